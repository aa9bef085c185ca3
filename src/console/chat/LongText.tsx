import { useState } from 'react';
import { redactText } from '../data/redact-text.ts';
import { Button } from '../design/Button.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { Markdown } from './markdown/Markdown.tsx';
import texts from './texts.json' with { type: 'json' };

/** Longer texts are truncated until the user expands them. */
const LONG = 20_000;

/** Text of a message, as Markdown unless it is plain. A text that is being written is never truncated. */
export const LongText = (props: { text: string; isPlain?: boolean; isGrowing?: boolean }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { text, isPlain = false, isGrowing = false } = props;
  const [isWhole, setWhole] = useState(isGrowing || text.length <= LONG);
  const shown = isWhole || isGrowing ? text : text.slice(0, LONG);
  return (
    <>
      {isPlain ? (
        <pre className="well mono" dir="auto">
          {redactText(shown)}
        </pre>
      ) : (
        <Markdown text={shown} />
      )}
      {shown !== text && (
        <Button small onClick={() => setWhole(true)}>
          {t('text.more', { count: format.number(text.length) })}
        </Button>
      )}
    </>
  );
};
