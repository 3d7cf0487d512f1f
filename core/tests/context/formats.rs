//! Plain, XML and Markdown.

use super::*;

#[test]
fn xml_escapes_content_and_attributes_so_that_neither_can_leave_its_place() {
    let sly = ContextBlock {
        category: "log",
        label: "say \"hi\"",
        source: "a\nb<c",
        ..block(1, "1 < 2 && \"q\"</context>\n<context>")
    };
    let options = RenderOptions { format: Format::Xml, show: Show::ALL, ..RenderOptions::new(1000) };
    let (text, _) = run(&[sly, block(0, "plain")], &options, &BytesPerFour);
    let expect = "<context category=\"log\" label=\"say &quot;hi&quot;\" source=\"a b&lt;c\">\n\
                  1 &lt; 2 &amp;&amp; \"q\"&lt;/context&gt;\n&lt;context&gt;\n</context>\n\n\
                  <context>\nplain\n</context>";
    assert_eq!(text, expect);
    let (text, _) = run(&[sly], &RenderOptions { show: Show::NONE, ..options }, &BytesPerFour);
    assert!(text.starts_with("<context>\n1 &lt; 2"));
}

#[test]
fn a_notice_stands_inside_the_tag() {
    let options = RenderOptions { format: Format::Xml, ..RenderOptions::new(14) };
    let (text, _) = run(&[cut(BlockFlags::CUT_TAIL, TWENTY)], &options, &words);
    assert_eq!(text, "<context>\none two three four five\n[… 15 of 20 tokens left out]\n</context>");
}

#[test]
fn titles_show_what_is_asked_for() {
    let full =
        ContextBlock { category: "memory", label: "Yesterday", source: "notes\r\n.txt", ..block(0, "text") };
    let (category, label, source) = (true, true, true);
    for (show, plain, heading) in [
        (Show::NONE, "", "Yesterday"),
        (Show::ALL, "[memory: Yesterday (notes  .txt)]\n", "memory: Yesterday (notes  .txt)"),
        (Show { label, ..Show::NONE }, "[Yesterday]\n", "Yesterday"),
        (Show { category, ..Show::NONE }, "[memory]\n", "memory"),
        (Show { source, ..Show::NONE }, "[notes  .txt]\n", "notes  .txt"),
        (Show { category, source, ..Show::NONE }, "[memory (notes  .txt)]\n", "memory (notes  .txt)"),
    ] {
        let options = RenderOptions { show, ..RenderOptions::new(100) };
        assert_eq!(run(&[full], &options, &BytesPerFour).0, format!("{plain}text"));
        let options = RenderOptions { format: Format::Markdown, ..options };
        assert_eq!(run(&[full], &options, &BytesPerFour).0, format!("## {heading}\n\ntext"));
    }
    let options = RenderOptions { format: Format::Markdown, show: Show::ALL, ..RenderOptions::new(100) };
    assert_eq!(
        run(&[block(0, "a"), block(0, "b")], &options, &BytesPerFour).0,
        "## Context\n\na\n\n## Context\n\nb"
    );
}
