"""Hand-made outputs that are no rewrites, and rewrites that look like them: (language, input, output)."""

STOVE = "The kettle is on the stove."

REFUSED = [
    ("eng", STOVE, "I'm sorry, but I can't help with that request."),
    ("eng", STOVE, "I cannot fulfill that request."),
    ("eng", STOVE, "I can’t assist with that."),
    ("eng", STOVE, "As an AI language model, I cannot paraphrase this content."),
    ("eng", STOVE, "Sorry, I am unable to rewrite this text because it contains hate speech."),
    ("eng", STOVE, "I must respectfully decline."),
    ("eng", STOVE, "**I apologize, but I cannot provide a translation of that sentence.**"),
    ("eng", STOVE, "I'm sorry, but I can't paraphrase the sentence “The kettle is on the stove.” for you."),
    ("fra", STOVE, "Je suis désolé, mais je ne peux pas vous aider avec cette demande."),
    ("fra", STOVE, "Désolé, je ne peux pas répondre à cette demande."),
    ("spa", STOVE, "Lo siento, pero no puedo ayudarte con esa solicitud."),
    ("deu", STOVE, "Es tut mir leid, aber ich kann Ihnen bei dieser Anfrage nicht helfen."),
    ("deu", STOVE, "Leider kann ich diesen Text nicht übersetzen."),
    ("tur", STOVE, "Üzgünüm, bu isteğe yardımcı olamam."),
    ("ara", STOVE, "عذرًا، لا أستطيع مساعدتك في هذا الطلب."),
    ("ara", STOVE, "أنا آسف، لكن لا يمكنني تلبية هذا الطلب."),
    ("zho", STOVE, "抱歉，我无法帮助您完成这个请求。"),
    ("zho", STOVE, "對不起，我無法提供幫助。"),
    ("jpn", STOVE, "申し訳ありませんが、そのご要望にはお応えできません。"),
    ("por", STOVE, "Desculpe, mas não posso ajudar com isso."),
    ("ita", STOVE, "Mi dispiace, ma non posso aiutarti con questa richiesta."),
    ("nld", STOVE, "Het spijt me, maar ik kan niet helpen met dat verzoek."),
    ("pol", STOVE, "Przykro mi, ale nie mogę pomóc w tej sprawie."),
    ("rus", STOVE, "Извините, но я не могу помочь с этим запросом."),
    ("hin", STOVE, "क्षमा करें, मैं इस अनुरोध में आपकी मदद नहीं कर सकता।"),
    ("kor", STOVE, "죄송하지만 해당 요청은 도와드릴 수 없습니다."),
    ("ind", STOVE, "Maaf, saya tidak dapat membantu dengan permintaan itu."),
]

NOT_REFUSED = [
    ("eng", "I can't help you with that, sorry.", "I'm sorry, but I can't help with that."),
    ("eng", "Sorry, I cannot come tonight.", "I'm sorry, I can't make it tonight."),
    ("eng", "The request was declined.", "They turned the request down."),
    ("eng", "I won't help with the dishes.", "I'm not going to help with the dishes."),
    ("eng", "Unfortunately the train was late.", "Regrettably, the train arrived late."),
    (
        "eng",
        "Je ne peux pas vous aider avec cette demande.",
        "I'm sorry, but I can't help with that request.",
    ),
    ("eng", "He must decline the offer.", "He has to decline the offer."),
    ("fra", "I can't help with this request.", "Je ne peux pas vous aider avec cette demande."),
    ("fra", "I am sorry that I am late.", "Je suis désolé d'être en retard."),
    ("deu", "Unfortunately I can't come.", "Leider kann ich nicht kommen."),
    ("deu", "I am sorry for your loss.", "Es tut mir leid für Ihren Verlust."),
    ("spa", "Sorry, I have no time.", "Lo siento, no tengo tiempo."),
    ("rus", "Sadly, it rained.", "К сожалению, шёл дождь."),
    ("zho", "Sorry, I'm late.", "抱歉，我迟到了。"),
    ("jpn", "Sorry to keep you waiting.", "お待たせして申し訳ありません。"),
    ("tur", "I am sorry I could not call.", "Seni arayamadığım için üzgünüm."),
    ("eng", "As an AI researcher, I cannot stand hype.", "As an AI scientist, I can't bear hype."),
]

TOLD = (
    "Rewrite the following text in {language} so that it keeps its meaning but uses other words. Answer with "
    "the text only."
)

ECHO = [
    ("eng", STOVE, TOLD.format(language="English") + "\n\n" + STOVE),
    ("eng", STOVE, "Rewrite the following text in English so that it keeps its meaning."),
    ("eng", STOVE, "The kettle. Answer with the text only. uses other words. Answer with the text only."),
    ("eng", STOVE, "REWRITE THE FOLLOWING TEXT IN ENGLISH so that..."),
    ("eng", "Paris", "It keeps its meaning but uses other words: Paris"),
    ("eng", "😂", "so that it keeps its meaning but uses other words"),
    ("fra", STOVE, "Rewrite the following text in French: La bouilloire est sur le feu."),
    ("fra", STOVE, "Answer with the text only. La bouilloire. But uses other words. Answer with the text"),
    ("deu", STOVE, "Rewrite the following text in German so that it keeps. Der Kessel."),
    ("deu", "Kessel", "meaning but uses other words. Answer Kessel"),
    ("jpn", STOVE, "Rewrite the following text in Japanese: やかん"),
    ("zho", STOVE, "水壶。 Rewrite the following text in Chinese so"),
    ("ara", STOVE, "Rewrite the following text in Arabic so that it keeps its meaning"),
]

NOT_ECHO = [
    ("eng", STOVE, "A kettle stands on the cooker."),
    (
        "eng",
        "Rewrite the following text in English so that it rhymes.",
        "Rewrite the following text in English so",
    ),
    ("eng", STOVE, "The following text keeps its meaning."),
    ("eng", STOVE, "Answer with other words."),
    ("eng", STOVE, ""),
    ("eng", "Please rewrite it.", "Kindly rewrite the following text."),
    ("fra", STOVE, "La bouilloire est sur le feu."),
    ("fra", "Rewrite the text.", "Récrivez le texte."),
    ("deu", STOVE, "Der Kessel steht auf dem Herd."),
    ("deu", STOVE, "Schreibe den folgenden Text um."),
    ("jpn", STOVE, "やかんがコンロにある。"),
    ("zho", STOVE, "水壶在炉子上。"),
    ("ara", STOVE, "الغلاية على الموقد."),
]

ANSWERED = [
    ("eng", "How do I change my delivery address?", "You can do that in the settings menu under Account."),
    ("eng", "Where can I find my invoices?", "Look at the billing page."),
    ("eng", "Which planet is largest?", "Jupiter."),
    ("eng", "“Why was my card declined?”", "Please contact your bank."),
    ("deu", "Wie ändere ich meine Lieferadresse?", "Das geht in den Einstellungen unter Konto."),
    ("deu", "Warum wurde meine Karte abgelehnt?", "Bitte wenden Sie sich an Ihre Bank."),
    ("fra", "Comment changer mon adresse de livraison ?", "Allez dans les paramètres du compte."),
    ("fra", "Pourquoi ma carte est-elle refusée ?", "Contactez votre banque."),
    ("spa", "¿Cómo cambio mi dirección de entrega?", "Vaya a los ajustes de su cuenta."),
    ("spa", "¿Dónde encuentro mis facturas?", "En la página de pagos."),
    ("zho", "怎么修改收货地址？", "请到设置里操作。"),
    ("rus", "Почему карту отклонили?", "Обратитесь в банк."),
    ("ara", "كيف أغير عنوان التسليم؟", "يمكنك ذلك من الإعدادات."),
]

NOT_ANSWERED = [
    ("eng", "How do I change my delivery address?", "What must I do to alter where parcels go?"),
    (
        "eng",
        "How do I change my delivery address?",
        "I want to know how to change my delivery address.",
    ),
    ("eng", "Which planet is largest?", "Tell me the largest planet."),
    ("eng", "What is it?", "That thing there."),  # nothing that could be shared
    ("eng", "The kettle is on the stove.", "You can do that in the settings."),  # no question
    ("eng", "Where can I find my invoices?", ""),
    ("deu", "Wie ändere ich meine Lieferadresse?", "Ich möchte meine Lieferadresse ändern."),
    ("deu", "Warum wurde meine Karte abgelehnt?", "Aus welchem Grund ging es nicht?"),
    ("fra", "Comment changer mon adresse de livraison ?", "Je veux changer mon adresse de livraison."),
    ("spa", "¿Cómo cambio mi dirección de entrega?", "¿De qué manera se modifica?"),
    ("zho", "怎么修改收货地址？", "请告诉我修改地址的办法。"),
    ("rus", "Почему карту отклонили?", "Хочу знать, почему отклонили карту."),
    ("ara", "كيف أغير عنوان التسليم؟", "أريد أن أغير عنوان التسليم."),
]
