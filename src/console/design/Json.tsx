import { useMemo } from 'react';
import { redact } from '../data/redaction.ts';
import { CopyButton } from './Copy.tsx';
import css from './Data.module.css';
import { Scroller } from './Scroller.tsx';

/** Any value as JSON, with secrets masked. */
export const Json = ({ value, label = 'JSON' }: { value: unknown; label?: string }) => {
  const text = useMemo(() => JSON.stringify(redact(value), null, 2) ?? '', [value]);
  return (
    <div className={css.framed}>
      <Scroller label={label} className={css.json}>
        <pre>{text}</pre>
      </Scroller>
      <CopyButton text={text} />
    </div>
  );
};
