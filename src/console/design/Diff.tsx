import { useMemo } from 'react';
import { useTexts } from '../i18n/locale.ts';
import css from './Data.module.css';
import { type Change, changesOf, wordChanges } from './diff.ts';
import designTexts from './texts.json' with { type: 'json' };

const isLongText = (value: unknown): value is string => typeof value === 'string' && /\s/.test(value);

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

/** One side of a text change; the words that only this side contains are marked. */
const Words = ({ before, after, side }: { before: string; after: string; side: 'removed' | 'added' }) => {
  const Mark = side === 'removed' ? 'del' : 'ins';
  const pieces = wordChanges(before, after).filter(({ kind }) => kind === 'same' || kind === side);
  let at = 0;
  return (
    <pre>
      {pieces.map(({ kind, text }) => {
        at += text.length;
        return kind === 'same' ? <span key={at}>{text}</span> : <Mark key={at}>{text}</Mark>;
      })}
    </pre>
  );
};

const Side = ({ change, side }: { change: Change; side: 'before' | 'after' }) => {
  const t = useTexts(designTexts);
  const value = change[side];
  if (value === undefined) return <span className="quiet">{t('diff.absent')}</span>;
  if (change.isSecret) {
    return <span className="quiet">{side === 'after' ? t('diff.secret') : '***'}</span>;
  }
  const { before, after } = change;
  if (isLongText(before) && isLongText(after)) {
    return <Words before={before} after={after} side={side === 'before' ? 'removed' : 'added'} />;
  }
  const Mark = side === 'before' ? 'del' : 'ins';
  return (
    <pre>
      <Mark>{shown(value)}</Mark>
    </pre>
  );
};

/** The differences between two values, field by field, with secrets masked. */
export const Diff = ({ before, after }: { before: unknown; after: unknown }) => {
  const t = useTexts(designTexts);
  const changes = useMemo(() => changesOf(before ?? {}, after ?? {}), [before, after]);
  if (changes.length === 0) return <p className="quiet">{t('diff.none')}</p>;
  return (
    <table className={`table ${css.diff}`} data-testid="audit-diff">
      <thead>
        <tr>
          <th scope="col">{t('diff.field')}</th>
          <th scope="col">{t('diff.before')}</th>
          <th scope="col">{t('diff.after')}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.path}>
            <td>
              <code>{change.path}</code>
            </td>
            <td>
              <Side change={change} side="before" />
            </td>
            <td>
              <Side change={change} side="after" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
