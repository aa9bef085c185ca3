import { useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Field } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Call.module.css';
import { parseJson } from './json-text.ts';
import type { Talk } from './talk.ts';
import { texts } from './texts.ts';

/** Lets the user enter the result of a tool that the page executes. */
export const AnswerForm = (props: { tool: string; toolCallId: string; answer: Talk['answer'] }) => {
  const t = useTexts(texts);
  const { tool, toolCallId, answer } = props;
  const [text, setText] = useState('{\n  "ok": true\n}');
  const [problem, setProblem] = useState<string>();
  const give = (): void => {
    const parsed = parseJson(text);
    if ('reason' in parsed) setProblem(t('answer.invalid', { reason: parsed.reason }));
    else answer({ tool, toolCallId, output: parsed.value });
  };
  return (
    <div className={css.answer}>
      <Field label={t('answer.label', { tool })} error={problem}>
        {(control) => (
          <textarea
            {...control}
            className={css.json}
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setProblem(undefined);
              setText(event.target.value);
            }}
          />
        )}
      </Field>
      <div className={css.buttons}>
        <Button small onClick={() => answer({ tool, toolCallId, errorText: t('answer.failed') })}>
          {t('answer.fail')}
        </Button>
        <Button small tone="primary" onClick={give}>
          {t('answer.give')}
        </Button>
      </div>
    </div>
  );
};
