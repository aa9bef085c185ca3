import { useEffect, useState } from 'react';
import { useTexts } from '../i18n/locale.ts';
import { IconButton } from './Button.tsx';
import css from './Data.module.css';
import { designTexts } from './texts.ts';

/** How long it says that it has done so. */
const SAID_MS = 1500;

/** @param text a function where it costs something to make it */
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

/** An id: its middle is left out where it is long, and it is whole in the tooltip and in the clipboard. */
export const Id = ({ id, whole = false }: { id: string; whole?: boolean }) => (
  <span className={css.id} title={id}>
    <span className={css.idText}>
      {whole || id.length <= LONGEST ? id : `${id.slice(0, 12)}…${id.slice(-8)}`}
    </span>
    <CopyButton text={id} />
  </span>
);
