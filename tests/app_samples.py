"""Real-looking files of the strings of apps, made from a few whole ones: each number gives another file."""

from __future__ import annotations

import codecs
import random

FILES = {
    "xml": """<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
    <!-- The title -->
    <string name="title">Don\\'t <b>stop</b>\\nNow %1$s &amp; go</string>
    <string name="kept" translatable="false">Keep me</string>
    <string name="reference">@string/title</string>
    <string name="quoted">"  Hello there  "</string>
    <string name="section"><![CDATA[<b>Hi</b> you]]></string>
    <string name="named">Hi <xliff:g id="n" example="Ann">%1$s</xliff:g>!</string>
    <string name="empty"></string>
    <string-array name="several">
        <item>One thing</item>
        <item>Two\\u0020things</item>
    </string-array>
    <plurals name="files">
        <item quantity="one">%d file</item>
        <item quantity="other">%d files</item>
    </plurals>
</resources>
""",
    "resx": """<?xml version="1.0" encoding="utf-8"?>
<root>
  <resheader name="version"><value>2.0</value></resheader>
  <data name="open" xml:space="preserve">
    <value>Open {0:C2} &lt;b&gt;now&lt;/b&gt;
the door</value>
    <comment>A menu</comment>
  </data>
  <data name="size" type="System.Drawing.Size, System.Drawing"><value>Big one</value></data>
  <data name=">>name"><value>button one</value></data>
  <data name="empty"><value /></data>
</root>
""",
    "properties": """# A comment
! another = one
file.open = Open {0}, it''s \\u00e9t\\u00e9 \\
    today
empty =
 indented\\ key : Don't go\\nStop here
bare
path=C:\\\\temp the folder
""",
    "strings": """/* The button */
"Save" = "Save the \\"file\\" %@\\nnow";
// A line
key.two = "Two words %1$@";
"empty" = "";
""",
    "arb": """{
  "@@locale": "en",
  "hello": "Hello {name}, it's a day",
  "@hello": {"description": "A greeting", "placeholders": {"name": {}}},
  "cats": "You have {n, plural, =0 {no cats} one {# cat} other {# cats}} at home.",
  "who": "{sex, select, male {His book} female {Her book} other {Their book}}"
}
""",
    "json": """{
  "menu": {"open": "Open the \\"file\\"", "hello": "Hello {{name}}\\nBye", "empty": ""},
  "item_one": "{{count}} item",
  "item_other": "{{count}} items",
  "list": ["One thing", 2, null, true],
  "link": "Go <1>home</1> and $t(menu.open)"
}
""",
    "ftl": """# A comment = x
-brand = Blue Bird
hello = Hello, { $name }!
about = About { -brand }
    and more
    .title = The title
    .accesskey = A
mails =
    { $n ->
        [one] You have one mail.
       *[other] You have { $n } mails { "{" } here.
    }
platform = Open { PLATFORM() ->
        [macos] the finder
       *[other] the folder
    } now

# End
last = The end
""",
    "ts": """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1">
<context>
    <name>Main</name>
    <message>
        <location filename="a.cpp" line="1"/>
        <source>&amp;Open the door</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Done now</source>
        <translation>Fertig</translation>
    </message>
</context>
</TS>
""",
}


def app_file(format: str, number: int) -> bytes:
    """A file with another line end, mark, indentation or encoding."""
    draw = random.Random(number)
    text = FILES[format]
    if draw.random() < 0.5:
        text = text.replace("    ", "      " if format == "ftl" else "\t")
    if draw.random() < 0.5:
        text = text.rstrip("\n")
    text = text.replace("\n", draw.choice(["\n", "\r\n"]))
    if format == "strings" and draw.random() < 0.4:
        return codecs.BOM_UTF16_LE + text.encode("utf-16-le")
    mark = codecs.BOM_UTF8 if format != "properties" and draw.random() < 0.3 else b""
    return mark + text.encode()
