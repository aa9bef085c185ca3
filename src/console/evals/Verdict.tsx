import { useTexts } from '../i18n/locale.ts';
import { isBlocking } from './compare.ts';
import css from './Evals.module.css';
import { type DiffEntry, KINDS } from './report.ts';
import { texts } from './texts.ts';

/** May this be released, as far as these tests tell? */
export const Verdict = ({ entries }: { entries: readonly DiffEntry[] }) => {
  const t = useTexts(texts);
  const blocking = entries.filter(isBlocking).length;
  return (
    <div
      className={css.banner}
      role="status"
      data-testid="eval-diff-banner"
      data-verdict={blocking > 0 ? 'blocking' : 'clean'}
    >
      {blocking > 0 ? t('verdict.blocking', { count: blocking }) : t('verdict.clean')}
      {KINDS.map((kind) => {
        const count = entries.filter((entry) => entry.kind === kind).length;
        return (
          count > 0 && (
            <span key={kind}>
              {t(`kind.${kind}`)} {count}
            </span>
          )
        );
      })}
    </div>
  );
};
