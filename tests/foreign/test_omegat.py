"""OmegaT as Debian has it: its own connector to Apertium, with the script of our guide, translates a project."""

import re
import subprocess
from pathlib import Path

import pytest
from extras import require_program
from serving import KEY, require_server, served

from dragoman.translator import Translator

require_server()

JAR = Path("/usr/share/omegat/OmegaT.jar")
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "cat-tools.md"
PROJECT = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<omegat><project version="1.0">
<source_dir>__DEFAULT__</source_dir><target_dir>__DEFAULT__</target_dir><tm_dir>__DEFAULT__</tm_dir>
<glossary_dir>__DEFAULT__</glossary_dir><glossary_file>__DEFAULT__</glossary_file>
<dictionary_dir>__DEFAULT__</dictionary_dir>
<source_lang>EN-US</source_lang><target_lang>DE</target_lang><sentence_seg>true</sentence_seg>
</project></omegat>
"""
#: Without a window, OmegaT has no connectors. This makes the one, with a menu that nobody sees, and takes what it says
#: for each segment of the project, as a person does.
TRANSLATE = """
import java.lang.reflect.Proxy
import org.omegat.core.Core
import org.omegat.core.data.PrepareTMXEntry
import org.omegat.util.Preferences

if (eventType.toString() != "LOAD") return
SCRIPT
def stand_in(Class kind) {
    Proxy.newProxyInstance(kind.classLoader, [kind] as Class[]) { proxy, method, arguments ->
        method.returnType == javax.swing.JMenu ? new javax.swing.JMenu() : stand_in(method.returnType)
    }
}
Preferences.setPreference("allow_apertium_translate", true)
def window = Core.mainWindow
Core.mainWindow = stand_in(org.omegat.gui.main.IMainWindow)
def connector = new ApertiumTranslate()
Core.mainWindow = window
def languages = project.projectProperties
project.allEntries.each {
    def entry = new PrepareTMXEntry()
    entry.source = it.srcText
    entry.translation = connector.getTranslation(languages.sourceLanguage, languages.targetLanguage, it.srcText)
    project.setTranslation(it, entry, true, null)
}
"""
TEXTS = ("Where is the station?", "Two dogs are playing.", "What time is it?")


@pytest.mark.skipif(not JAR.exists(), reason="no OmegaT (on Debian: apt install omegat)")
def test_omegat_translates_a_project_with_the_script_of_the_guide(tmp_path: Path) -> None:
    java = require_program("java", "default-jre")
    (guide,) = re.findall(r"```groovy\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    imported, script = guide.split("\n\n")
    for name in ("source", "target", "tm", "glossary", "dictionary", "omegat", "settings"):
        (tmp_path / name).mkdir()
    (tmp_path / "omegat.project").write_text(PROJECT, encoding="utf-8")
    page = "<html><body><p>{} {}</p><p>{}</p><p>{}</p></body></html>"
    marked = "Where is the <b>station</b>?"
    (tmp_path / "source" / "page.html").write_text(page.format(*TEXTS, marked), encoding="utf-8")
    with served("everyday", "--workers", "1", "--api-keys", KEY) as (_, address):
        script = script.replace("http://127.0.0.1:5000", address).replace("key=any", f"key={KEY}")
        (tmp_path / "translate.groovy").write_text(imported + TRANSLATE.replace("SCRIPT", script), encoding="utf-8")
        options = [
            "--mode=console-translate",
            f"--script={tmp_path}/translate.groovy",
            f"--config-dir={tmp_path}/settings",
        ]
        command = [java, "-Djava.awt.headless=true", "-jar", str(JAR), str(tmp_path), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    translator = Translator.load("everyday", device="cpu")
    german = [translator.translate(text, source_lang="en", target_lang="de").text for text in TEXTS]
    assert (tmp_path / "target" / "page.html").exists(), done.stdout[-2000:] + done.stderr[-2000:]
    written = (tmp_path / "target" / "page.html").read_text(encoding="utf-8")
    body = "<body>" + written.partition("<body>")[2]
    expected = page.format(*german, "Wo ist der <b>Bahnhof</b>?").removeprefix("<html>")
    assert body == expected
