import { useMemo } from 'react';
import { redact } from '../data/redaction.ts';
import { CopyButton } from './Copy.tsx';
import css from './Data.module.css';

/** Any value as text, its secrets masked. */
export const Json = ({ value, label }: { value: unknown; label?: string }) => {
  const text = useMemo(() => JSON.stringify(redact(value), null, 2) ?? '', [value]);
  return (
    <div className={css.framed}>
      <pre className={css.json} aria-label={label} role={label ? 'region' : undefined}>
        {text}
      </pre>
      <CopyButton text={text} />
    </div>
  );
};
