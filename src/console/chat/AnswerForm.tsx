import { useState } from 'react';
import { Button } from '../design/Button.tsx';
import { DialogActions } from '../design/Dialog.tsx';
import { TextField } from '../design/Inputs.tsx';
import { useTexts } from '../i18n/locale.ts';
import { parseJson } from './json-text.ts';
import type { Talk } from './talk.ts';
import texts from './texts.json' with { type: 'json' };

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
    <div className="stack inset ruled">
      <TextField
        label={t('answer.label', { tool })}
        error={problem}
        isCode
        value={text}
        onChange={(edited) => {
          setProblem(undefined);
          setText(edited);
        }}
      />
      <DialogActions>
        <Button small onClick={() => answer({ tool, toolCallId, errorText: t('answer.failed') })}>
          {t('answer.fail')}
        </Button>
        <Button small tone="primary" onClick={give}>
          {t('answer.give')}
        </Button>
      </DialogActions>
    </div>
  );
};
