import { useEffect, useState } from 'react';
import { useTexts } from '../i18n/locale.ts';
import { IconButton } from './Button.tsx';
import css from './Data.module.css';
import designTexts from './texts.json' with { type: 'json' };

const SAID_MS = 1500;

/** @param text a function if the text is expensive to build */
export const CopyButton = ({ text, label }: { text: string | (() => string); label?: string }) => {
  const t = useTexts(designTexts);
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = (event: { stopPropagation(): void }): void => {
    event.stopPropagation();
    navigator.clipboard?.writeText(typeof text === 'string' ? text : text()).then(
      () => setDone(true),
      () => setDone(false),
    );
  };
  return (
    <IconButton
      small
      icon={done ? 'check' : 'copy'}
      label={done ? t('copied') : (label ?? t('copy'))}
      onClick={copy}
    />
  );
};

const LONGEST = 22;

/** An id, shortened in the middle if it is long. The tooltip and the clipboard contain it in full. */
export const Id = ({ id, whole = false }: { id: string; whole?: boolean }) => (
  <span className={css.id} title={id}>
    <span className="mono cut">
      {whole || id.length <= LONGEST ? id : `${id.slice(0, 12)}…${id.slice(-8)}`}
    </span>
    <CopyButton text={id} />
  </span>
);
