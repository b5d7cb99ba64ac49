use super::*;

fn prompt(text: &str) -> Prompt {
    Prompt::parse("test", text).unwrap()
}

fn texts(contents: &[Content]) -> String {
    contents
        .iter()
        .map(|content| if let Content::Text(text) = content { text.as_str() } else { "<png>" })
        .collect()
}

#[test]
fn examples_come_before_the_question() {
    let prompt = prompt(
        r#"
        about = "few-shot"
        [[step]]
        system = "Translate."
        user = "{examples}In: {input}\nOut:"
        max-tokens = 5
        [examples]
        count = 2
        template = "In: {input}\nOut: {target}\n"
        "#,
    );
    let shot = |input: &str, target: &str| Shot {
        input: Some(input.to_owned()),
        target: target.to_owned(),
        ..Shot::default()
    };
    let question = Question {
        input: Some("jump".to_owned()),
        shots: vec![shot("walk", "WALK"), shot("run", "RUN")],
        ..Question::default()
    };
    let rendered = prompt.render(&question, &[]).unwrap();
    assert_eq!(rendered.messages[0], ("system", vec![Content::Text("Translate.".to_owned())]));
    assert_eq!(texts(&rendered.messages[1].1), "In: walk\nOut: WALK\nIn: run\nOut: RUN\nIn: jump\nOut:");
}

#[test]
fn pictures_stand_where_the_template_puts_them() {
    let prompt = prompt("about = ''\n[[step]]\nuser = 'Look: {images} What is it?'\nmax-tokens = 5");
    let question = Question { images: vec![vec![1], vec![2]], ..Question::default() };
    let rendered = prompt.render(&question, &[]).unwrap();
    assert_eq!(texts(&rendered.messages[0].1), "Look: <png><png> What is it?");
    let text = Question { input: Some("a".to_owned()), ..Question::default() };
    assert!(prompt.render(&text, &[]).unwrap_err().contains("are text"));
}

#[test]
fn the_second_step_of_gpt_3_continues_the_first() {
    let prompt = builtin_prompts::find("hint", "gpt3-zero-shot-cot").unwrap();
    let question = Question { input: Some("3*(4-2)".to_owned()), ..Question::default() };
    let first = prompt.render(&question, &[]).unwrap();
    assert_eq!(texts(&first.messages[0].1), "Q: What is 3*(4-2)?\nA: Let's think step-by-step.");
    assert_eq!((first.api, first.max_tokens), (Api::Completions, 1000));
    let turn = Turn { sent: first.messages, reply: "\n\n4-2 is 2. 3*2 is 6.".to_owned() };
    let second = prompt.render(&question, &[turn]).unwrap();
    assert_eq!(
        texts(&second.messages[0].1),
        "Q: What is 3*(4-2)?\nA: Let's think step-by-step.\n\n4-2 is 2. 3*2 is 6. \nTherefore, the answer (arabic \
         numerals) is"
    );
    assert_eq!(second.max_tokens, 10);
}

#[test]
fn a_later_chat_step_continues_the_conversation() {
    let prompt = prompt(
        "about = ''\n[[step]]\nsystem = 'S'\nuser = '{input}'\nmax-tokens = 5\n[[step]]\nuser = 'So?'\nmax-tokens = 5",
    );
    let question = Question { input: Some("q".to_owned()), ..Question::default() };
    let first = prompt.render(&question, &[]).unwrap();
    let turn = Turn { sent: first.messages, reply: "r".to_owned() };
    let second = prompt.render(&question, &[turn]).unwrap();
    let roles: Vec<&str> = second.messages.iter().map(|(role, _)| *role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

#[test]
fn wrong_files_are_refused_with_the_reason() {
    for (text, why) in [
        ("about = ''", "missing field `step`"),
        ("about = ''\nstep = []", "has no [[step]]"),
        ("about = ''\n[[step]]\nmax-tokens = 1", "needs either `user`"),
        ("about = ''\n[[step]]\nuser = 'hello'\nmax-tokens = 1", "no step has `{input}`"),
        ("about = ''\n[[step]]\nuser = '{inptu}'\nmax-tokens = 1", "no placeholder"),
        ("about = ''\n[[step]]\nuser = '{input}{reply}'\nmax-tokens = 1", "there is none"),
        ("about = ''\n[[step]]\nuser = '{input}{examples}'\nmax-tokens = 1", "needs [examples]"),
        ("about = ''\n[[step]]\nuser = '{input}'\nmax-tokens = 0", "at least 1"),
        ("about = ''\n[[step]]\nuser = '{input}'\nmax-tokens = 1\ncolour = 1", "unknown field"),
        ("about = ''\n[[step]]\nprompt = '{images}'\nmax-tokens = 1", "no pictures"),
        (
            "about = ''\n[[step]]\nuser = '{input}'\nmax-tokens = 1\n[answer]\nread = ['eval']",
            "unknown variant",
        ),
    ] {
        let error = Prompt::parse("test", text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn every_built_in_prompt_is_valid() {
    for (benchmark, style, _) in builtin_prompts::all() {
        let prompt = builtin_prompts::find(benchmark, style).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(prompt.wants_images(), benchmark.ends_with("-image") || benchmark == "mns", "{benchmark}");
        assert_eq!(prompt.examples.is_some(), style == "few-shot" || prompt.examples.is_some());
    }
    let error = builtin_prompts::find("scan", "few-shots").unwrap_err().to_string();
    assert!(error.contains("zero-shot, few-shot, chain-of-thought"), "{error}");
}
