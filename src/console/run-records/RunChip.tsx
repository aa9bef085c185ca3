import type { ReactNode } from 'react';
import { Chip } from '../design/Chip.tsx';
import { useNow } from '../design/Time.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import css from './RunRecords.module.css';
import { durationOf, noteOf, type Run, runHref, stateOf } from './run.ts';
import texts from './texts.json' with { type: 'json' };

export const RunChip = ({ run }: { run: Pick<Run, 'status' | 'termination_reason'> }) => {
  const t = useTexts(texts);
  const { text, kind, code, tone, icon } = stateOf(run);
  return (
    <span data-testid="run-status" data-status={run.status}>
      <Chip tone={tone} {...(icon && { icon })}>
        {text ? t(text) : kind}
        {code !== undefined && `: ${code}`}
      </Chip>
    </span>
  );
};

/** The first words of the input of a run, or its id if it has none. */
export const RunWords = ({
  run,
  mark,
}: {
  run: Pick<Run, 'run_id' | 'preview'>;
  mark: (text: string) => ReactNode;
}) =>
  run.preview === undefined ? (
    <span className="mono">{shortId(run.run_id)}</span>
  ) : (
    <span dir="auto">{mark(run.preview)}</span>
  );

/** How long a run has executed or waited; a queued run has no duration yet. */
export const RunDuration = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  if (run.status === 'created') return '—';
  const seconds = durationOf(run, now);
  if (run.finished_at_ms !== undefined && run.started_at_ms !== undefined)
    return format.duration(seconds * 1000);
  return seconds < 1 ? t('short') : format.seconds(seconds);
};

/** Why a run waits, or the detail of its end that the service reports, which the tooltip shows in full. */
export const RunReason = ({ run, note }: { run: Run; note?: string | undefined }) => {
  const t = useTexts(texts);
  const { text, detail = '' } = noteOf(run) ?? {};
  const words = [note, text && t(text)].filter(Boolean).join(' · ');
  if (words === '' && detail === '') return null;
  return (
    <span className={`cut ${css.reason}`} title={`${words} ${detail}`.trim()}>
      {words} {detail !== '' && <span className="quiet">{detail}</span>}
    </span>
  );
};

/** The state of a run and its reason, within one line of a list. */
export const RunOutcome = ({ run, note }: { run: Run; note?: string | undefined }) => (
  <span className={`row nowrap ${css.outcome}`}>
    <RunChip run={run} />
    <RunReason run={run} note={note} />
  </span>
);

/** Ids are long and share their beginning, so the end is shown. */
export const shortId = (id: string): string => (id.length > 14 ? `…${id.slice(-12)}` : id);

export const RunLink = ({ id }: { id: string }) => (
  <ScreenLink to={runHref(id)} className="mono" title={id}>
    {shortId(id)}
  </ScreenLink>
);
