"""Wrong language and wrong script on a small labelled set: (tag that was asked for, output)."""

import pytest

from stressbed import scripts
from stressbed.transform.flags import wrong_language

RIGHT = [
    ("fra-Latn", "Le week-end, on fait du shopping et un brunch."),
    ("fra-Latn", "Le marketing digital et le business model de la start-up."),
    ("fra-Latn", "J'ai un meeting avec mon boss après le lunch."),
    ("deu-Latn", "Das Meeting war ein Highlight und das Team performt super."),
    ("deu-Latn", "Der Download der Software ist kostenlos."),
    ("spa-Latn", "Hicimos un brunch con el team y mucho networking."),
    ("spa-Latn", "El gato duerme en la cama."),
    ("ita-Latn", "Il weekend facciamo shopping e brunch."),
    ("por-Latn", "O time de marketing fez um brainstorming."),
    ("por-Latn", "O gato dorme na cama."),
    ("nld-Latn", "Het weekend was leuk en de deadline is gehaald."),
    ("tur-Latn", "Toplantı bugün saat üçte başlıyor."),
    ("ces-Latn", "Dnes je pěkné počasí a svítí slunce."),
    ("slk-Latn", "Dnes je pekné počasie a svieti slnko."),
    ("dan-Latn", "Det er en fin dag i dag."),
    ("nob-Latn", "Det er en fin dag i dag."),
    ("zsm-Latn", "Saya suka makan nasi goreng."),
    ("hin-Latn", "main kal dilli ja raha hoon kyunki mausam achha hai"),
    ("arb-Latn", "kifak lyom, shu akhbarak? nshallah mni7"),
    ("rus-Latn", "privet kak dela segodnya vecherom"),
    ("ell-Latn", "kalimera ti kaneis simera file mou"),
    ("srp-Latn", "Dobar dan, kako ste danas? Nadam se da je dobro."),
    ("srp-Cyrl", "Добар дан, како сте данас? Надам се да је добро."),
    ("zho-Hans", "今天天气很好，我们去公园散步。"),
    ("zho-Hant", "今天天氣很好，我們去公園散步。"),
    ("jpn-Jpan", "今日は天気がいいので公園へ行きます。"),
    ("jpn-Jpan", "iPhone 15 Proの新しい広告キャンペーンを発表しました。"),
    ("kor-Hang", "오늘은 날씨가 좋아서 공원에 갑니다."),
    ("hin-Deva", "आज मौसम अच्छा है और हम बाग में जा रहे हैं।"),
    ("deu-Latn", "https://www.example.org/products/kitchen/kettle-blue"),
    ("zho-Hans", "https://www.example.org/products/kitchen/kettle-blue"),
    ("fra-Latn", "orders@example.org"),
    ("ara", "SELECT name_of_user FROM accounts_2024 WHERE id=17;"),
    ("zho-Hans", "for i in range(10):\n    print(i)"),
    ("jpn-Jpan", "+49 30 1234567, 12:30-14:45, 3.5%"),
    ("fra-Latn", "SELECT name FROM users WHERE id = 3"),
    ("fra-Latn", "import numpy as np"),
    ("spa-Latn", "sudo apt-get install build-essential"),
    ("jpn-Jpan", "sudo apt-get install build-essential"),
    ("fra-Latn", "#ThrowbackThursday #happynewyear"),
    ("orm-Latn", "Har'a qilleensi bareedaadha, gara mana barumsaa deemna."),
]

WRONG = [
    ("srp-Latn", "Добар дан, како сте данас? Надам се да је добро."),
    ("srp-Cyrl", "Dobar dan, kako ste danas? Nadam se da je dobro."),
    ("zho-Hans", "今天天氣很好，我們去公園散步。"),
    ("zho-Hant", "今天天气很好，我们去公园散步。"),
    ("cmn-Hans", "這個問題沒有簡單的答案。"),
    ("hin-Deva", "main kal dilli ja raha hoon kyunki mausam achha hai"),
    ("orm-Latn", "ዛሬ አየሩ ጥሩ ነው ወደ ትምህርት ቤት እንሄዳለን"),
    ("amh-Ethi", "The weather is fine today and we go to school."),
    ("eng-Latn", "የአማርኛ ቋንቋ በኢትዮጵያ ነው ዛሬ ጥሩ ነው"),
    ("uzb-Latn", "Бугун ҳаво яхши, биз боғга борамиз."),
    ("rus-Cyrl", "privet kak dela segodnya vecherom"),
    ("fra-Latn", "On the weekend we go shopping and have brunch."),
    ("fra-Latn", "The quick brown fox jumps over the lazy dog."),
    ("deu-Latn", "The meeting was a highlight and the team performs well."),
    ("deu-Latn", "Le chat dort sur le canapé du salon."),
    ("spa-Latn", "Today the weather is really nice outside."),
    ("ita-Latn", "We made a plan for the marketing campaign."),
    ("por-Latn", "The cat is sleeping on the bed in the room."),
    ("eng-Latn", "Der Kessel steht auf dem Herd und pfeift."),
    ("eng-Latn", "El gato duerme en la cama de mi hermana."),
    ("tur-Latn", "Der Kessel steht auf dem Herd und pfeift."),
    ("jpn-Jpan", "The meeting starts at three o'clock today."),
    ("kor-Hang", "今日は天気がいいので公園へ行きます。"),
    ("ara", "Le chat dort sur le canapé du salon."),
]


def test_rates_on_the_labelled_set():
    false = [(tag, text) for tag, text in RIGHT if wrong_language(text, tag)]
    missed = [(tag, text) for tag, text in WRONG if not wrong_language(text, tag)]
    assert (false, missed) == ([], [])
    assert min(len({tag for tag, _ in s}) for s in (RIGHT, WRONG)) >= 12


@pytest.mark.parametrize(
    ("tag", "original", "output", "expected"),
    [
        ("fra-Latn", "Barack Obama and Donald Trump", "Barack Obama et Donald Trump", False),
        ("rus-Cyrl", "Windows Server and Linux", "Windows Server и Linux", False),
        ("zho-Hans", "iPhone 15 Pro Max phone", "iPhone 15 Pro Max 手机", False),
        ("hin-Deva", "Justin Bieber and Selena Gomez", "Justin Bieber और Selena Gomez", False),
        (
            "fra-Latn",
            "How To Install Apache Tomcat On Debian",
            "How To Install Apache Tomcat On Debian",
            True,
        ),
        ("deu-Latn", "A man plays the guitar in Berlin.", "The man is playing guitar in Berlin.", True),
    ],
)
def test_names_of_the_input_are_in_no_language(tag, original, output, expected):
    assert wrong_language(output, tag, original=original) is expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Har'a qilleensi bareedaadha."] * 3 + ["ዛሬ አየሩ ጥሩ ነው"], "Latn"),
        (["ዛሬ አየሩ ጥሩ ነው", "Latin"], ""),  # no majority
        (["今天天气很好。", "你好"], "Hans"),
        (["這個問題沒有答案。", "你好"], "Hant"),
        (["你好"], "Hani"),
        (["今日は天気がいい。", "東京大学"], "Jpan"),
        (["오늘은 날씨가 좋다"], "Kore"),
        (["Ｆｕｌｌｗｉｄｔｈ"], "Latn"),
        (["12345", "😂"], ""),
        ([], ""),
        (["Вчера я был в офисе Microsoft."], "Cyrl"),
    ],
)
def test_the_script_of_texts(texts, expected):
    assert scripts.main_script(texts) == expected


@pytest.mark.parametrize(
    ("text", "script", "expected"),
    [("abc", "Latn", True), ("abc", "Cyrl", False), ("123", "Latn", None), ("東京", "Jpan", True),
     ("abc", "Zxxx", None),
     ("한국", "Kore", True), ("漢字", "Hant", True), ("汉字", "Hant", False), ("абв abc", "Latn", False)],
)  # fmt: skip
def test_whether_a_text_is_in_a_script(text, script, expected):
    assert scripts.is_in(text, script) is expected
