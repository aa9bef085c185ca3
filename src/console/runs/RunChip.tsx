import { Chip } from '../design/Chip.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../shell/links.tsx';
import css from './Runs.module.css';
import { type Run, reasonOf, runHref, statusText, toneOf } from './run.ts';
import { texts } from './texts.ts';

/** The status of a run. */
export const RunChip = ({ run }: { run: Pick<Run, 'status' | 'termination_reason'> }) => {
  const t = useTexts(texts);
  const word = statusText(run.status);
  return (
    <span data-testid="run-status" data-status={run.status}>
      <Chip tone={toneOf(run)}>{word ? t(word) : run.status}</Chip>
    </span>
  );
};

/** Why it waits or how it has ended, in words; what the service said of it is in the tooltip. */
export const RunReason = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const reason = reasonOf(run);
  if (!reason) return <span className={css.quiet}>—</span>;
  return (
    <span className={css.reason} title={reason.detail || undefined}>
      {reason.text ? t(reason.text) : reason.kind}
      {reason.detail !== '' && <span className={css.quiet}>{reason.detail}</span>}
    </span>
  );
};

/** Ids are long, and begin alike: their end tells them apart. */
export const shortId = (id: string): string => (id.length > 14 ? `…${id.slice(-12)}` : id);

export const RunLink = ({ id }: { id: string }) => (
  <ScreenLink to={runHref(id)} className={css.mono} title={id}>
    {shortId(id)}
  </ScreenLink>
);
