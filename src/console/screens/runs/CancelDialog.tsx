import { useState } from 'react';
import { each, type Result } from '../../data/each.ts';
import { Chip } from '../../design/Chip.tsx';
import { ConfirmDialog, Dialog, DialogClose } from '../../design/Dialog.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { cancelRun, runsChanged } from '../../run-records/control.ts';
import { RunLink } from '../../run-records/RunChip.tsx';
import type { Run } from '../../run-records/run.ts';
import texts from './texts.json' with { type: 'json' };

const TONES = { done: 'success', over: 'none', failed: 'error' } as const;

const Results = ({ results, onClose }: { results: readonly Result[]; onClose: () => void }) => {
  const t = useTexts(texts);
  const describeResult = ({ outcome, said: message }: Result): string => {
    if (outcome === 'failed') return message;
    return t(outcome === 'done' ? 'cancel.ok' : 'cancel.over');
  };
  return (
    <Dialog title={t('cancel.result')} onClose={onClose} size={560}>
      <Scroller label={t('cancel.result')} className="frame">
        <ul className="divided">
          {results.map((result) => (
            <li key={result.id} className="item spread">
              <RunLink id={result.id} />
              <Chip tone={TONES[result.outcome]}>{describeResult(result)}</Chip>
            </li>
          ))}
        </ul>
      </Scroller>
      <DialogClose onClose={onClose} />
    </Dialog>
  );
};

/** Confirms, cancels, and reports the runs that could not be cancelled. */
export const CancelDialog = ({ runs, onClose }: { runs: readonly Run[]; onClose: () => void }) => {
  const t = useTexts(texts);
  const [busy, setBusy] = useState(false);
  const [results, setResults] = useState<readonly Result[]>();
  const cancel = async (): Promise<void> => {
    setBusy(true);
    const found = await each(
      runs.map(({ run_id }) => run_id),
      cancelRun,
    );
    runsChanged();
    if (found.every(({ outcome }) => outcome === 'done')) {
      toast('info', t('cancel.done', { count: found.length }));
      onClose();
    } else setResults(found);
  };
  if (results) return <Results results={results} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={t('cancel.title', { count: runs.length })}
      confirm={t('cancel.many')}
      cancel={t('cancel.keep')}
      busy={busy}
      onConfirm={() => void cancel()}
      onClose={onClose}
    >
      <p>{t('cancel.text')}</p>
    </ConfirmDialog>
  );
};
