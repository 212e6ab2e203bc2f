"""A real SLURM on loopback: controller, one node, munge; no systemd, no cgroups, no database."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "srun")
DEFAULT_CONFIG = Path("/etc/slurm/slurm.conf")
"""Where clients look by themselves. The plugin's job step drops SLURM_CONF, so nothing else will do."""

CONFIG_NAME = "stressbed-slurm.conf"
TESTER = "tester.pid"
HOSTS = Path("/etc/hosts")
MARK = "# for the tests of stressbed"
PORTS = (26817, 26818)

NAME = "stressbedtest"

CONFIG = """\
ClusterName={name}
SlurmctldHost={node}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
# Without cgroups memory is looked at every other second, and a job over its request is killed.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill,UsePss
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,bf_min_age_reserve=3600
KillWait=2
MinJobAge=300
# A job's time limit is looked at without grace.
OverTimeLimit=0
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName={node} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} Gres=gpu:1 State=UNKNOWN
PartitionName=cpu Nodes={node} Default=YES DefaultTime=5 MaxTime=1-0 State=UP
PartitionName=gpu Nodes={node} DefaultTime=5 MaxTime=1-0 State=UP
"""


def missing() -> str:
    """Return why there can be no SLURM here; empty where there can."""
    absent = [c for c in COMMANDS if _which(c) is None]
    if absent:
        return f"needs slurm: {', '.join(absent)} not installed"
    if os.geteuid() != 0:
        return "needs slurm: its daemons must be started as root here"
    if DEFAULT_CONFIG.exists() and not _abandoned():
        return f"needs slurm: {DEFAULT_CONFIG} belongs to another cluster"
    return ""


def _abandoned() -> bool:
    """Whether the configuration is one of ours whose tests are gone, as after they were killed."""
    tester = DEFAULT_CONFIG.resolve().parent / TESTER
    if DEFAULT_CONFIG.resolve().name != CONFIG_NAME:
        return False
    return not tester.exists() or not Path(f"/proc/{tester.read_text()}").exists()


def _end_left_over() -> None:
    """End what jobs left behind: without cgroups a process outlives a job whose parents were killed."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("SLURM_CLUSTER_NAME") == NAME:
                process.kill()


def _which(command: str) -> str | None:
    return shutil.which(command, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


@dataclass
class Cluster:
    """A running cluster of one node with one stand-in GPU."""

    folder: Path
    cpus: int = 4
    memory: int = 14000

    @property
    def node(self) -> str:
        return socket.gethostname().split(".")[0]

    def start(self) -> None:
        """Write the configuration, start the daemons, wait for the node."""
        if DEFAULT_CONFIG.is_symlink():
            Cluster(DEFAULT_CONFIG.resolve().parent).stop()  # whose tests were killed
        (self.folder / "state").mkdir(parents=True, exist_ok=True)
        (self.folder / TESTER).write_text(str(os.getpid()))
        (self.folder / "spool").mkdir(exist_ok=True)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        self.folder.chmod(0o755)
        config = self.folder / CONFIG_NAME
        config.write_text(
            CONFIG.format(
                name=NAME, node=self.node, ports=PORTS, folder=self.folder, cpus=self.cpus, memory=self.memory
            )
        )
        # A count of GPUs is not enough: slurmd wants a device, and takes a link to any for one.
        (self.folder / "gpu0").symlink_to("/dev/null")
        (self.folder / "gres.conf").write_text(f"NodeName={self.node} Name=gpu File={self.folder}/gpu0\n")
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        DEFAULT_CONFIG.parent.mkdir(parents=True, exist_ok=True)
        DEFAULT_CONFIG.symlink_to(config)
        self._name_loopback()
        at = self.folder
        self._daemon(
            "munged", "--force", f"--key-file={key}", f"--socket={at}/munge.socket",
            f"--seed-file={at}/munge.seed", f"--pid-file={at}/munged.pid", f"--log-file={at}/munged.log",
        )  # fmt: skip
        self.start_controller()
        self._daemon("slurmd")
        self.wait_for_node("idle")

    def start_controller(self) -> None:
        self._daemon("slurmctld")

    def stop_controller(self) -> None:
        self._end("slurmctld")

    def stop(self) -> None:
        """Cancel what runs, end the daemons by their pid files, undo what was changed outside."""
        with contextlib.suppress(subprocess.SubprocessError, AssertionError):
            self.ask("scancel", "--user=root")
            self.wait_until_empty(20)
        for name in ("slurmd", "slurmctld", "munged"):
            self._end(name)
        _end_left_over()
        if DEFAULT_CONFIG.is_symlink():
            DEFAULT_CONFIG.unlink()
        if HOSTS.exists() and MARK in HOSTS.read_text():
            kept = [line for line in HOSTS.read_text().splitlines() if MARK not in line]
            HOSTS.write_text("\n".join(kept) + "\n")

    def ask(self, *command: str, timeout: int = 20) -> str:
        """Return what a SLURM command prints."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return done.stdout

    def set_node(self, state: str) -> None:
        """Drain, down or resume the node; one that is there already may be resumed."""
        with contextlib.suppress(*([subprocess.CalledProcessError] if state == "resume" else [])):
            self.ask("scontrol", "update", f"nodename={self.node}", f"state={state}", "reason=test")

    def queue(self, states: str = "PD,R,CG") -> list[dict[str, str]]:
        """Return the jobs in these states; `all` includes those that ended."""
        names = ("id", "state", "name", "comment", "reason")
        out = self.ask("squeue", "--noheader", f"--states={states}", "--format=%i|%T|%j|%k|%r")
        return [dict(zip(names, line.split("|"), strict=True)) for line in out.splitlines()]

    def wait_for_node(self, *states: str, seconds: int = 60) -> None:
        wanted = set(states)
        self.wait_for(lambda: self._node_state() in wanted, f"the node to be {states}", seconds)

    def wait_until_empty(self, seconds: int = 60) -> None:
        self.wait_for(lambda: not self.queue(), "an empty queue", seconds)

    def wait_for(self, condition, what: str, seconds: float = 60) -> None:
        """Wait until a condition holds.

        Raises:
            AssertionError: It does not hold in time; says what was waited for, and the daemons' last words.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(subprocess.SubprocessError):
                if condition():
                    return
            time.sleep(0.2)
        raise AssertionError(f"waited {seconds} s for {what}\n{self.last_words()}")

    def last_words(self) -> str:
        """Return the ends of the daemons' logs."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"== {p.name}\n" + "\n".join(p.read_text().splitlines()[-12:]) for p in logs)

    def _node_state(self) -> str:
        return self.ask("sinfo", "--noheader", "--Node", "--partition=cpu", "--format=%T").strip()

    def _daemon(self, name: str, *options: str) -> None:
        command = [_which(name) or name, *options]
        log = (self.folder / "start.log").open("a")
        # The daemons look for gres.conf beside the file that they are told, the clients take the default.
        env = {**os.environ, "SLURM_CONF": str(self.folder / CONFIG_NAME)}
        subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=30, check=True, env=env
        )

    def _end(self, name: str) -> None:
        """End a daemon of ours: the process that its pid file names, if it is one of that name."""
        pid_file = self.folder / f"{name}.pid"
        if not pid_file.exists():
            return
        pid = int(pid_file.read_text())
        for sent in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                if _name_of(pid) == name:
                    os.kill(pid, sent)
            for _ in range(100):
                if _name_of(pid) != name:
                    pid_file.unlink(missing_ok=True)
                    return
                time.sleep(0.1)

    def _name_loopback(self) -> None:
        """Let the host's name be 127.0.0.1, to which the daemons bind; the line is marked."""
        with contextlib.suppress(OSError):
            if socket.gethostbyname(self.node) == "127.0.0.1":
                return
        old = HOSTS.read_text() if HOSTS.exists() else ""
        HOSTS.write_text(f"127.0.0.1 {socket.gethostname()} {self.node} {MARK}\n{old}")


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """A cluster for the time of a `with`."""
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
