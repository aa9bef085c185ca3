import { useState } from 'react';
import { each, type Result } from '../../data/each.ts';
import { anything } from '../../data/guard.ts';
import { changed } from '../../data/records.ts';
import { pathOf, send } from '../../data/request.ts';
import { Chip } from '../../design/Chip.tsx';
import { ConfirmDialog, Dialog, DialogClose } from '../../design/Dialog.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { AgentRow } from './agent-row.ts';
import texts from './texts.json' with { type: 'json' };

const deleteAll = (ids: readonly string[]): Promise<Result[]> =>
  each(ids, async (id) => {
    await send({ method: 'DELETE', path: pathOf`/v1/config/agents/${id}` }, anything);
  });

const Results = ({ results, onClose }: { results: readonly Result[]; onClose: () => void }) => {
  const t = useTexts(texts);
  return (
    <Dialog title={t('many.result')} onClose={onClose} size={560}>
      <ul className="stack">
        {results.map(({ id, outcome, said }) => (
          <li key={id} data-testid={`delete-row-${id}`}>
            {outcome === 'done' ? (
              <code>{id}</code>
            ) : (
              <ScreenLink to={`/agents/${encodeURIComponent(id)}`}>{id}</ScreenLink>
            )}
            <Chip tone={outcome === 'done' ? 'success' : 'error'}>
              {t(outcome === 'done' ? 'many.deleted' : 'many.kept')}
            </Chip>
            {said !== '' && <small className="quiet">{said}</small>}
          </li>
        ))}
      </ul>
      <DialogClose onClose={onClose} />
    </Dialog>
  );
};

/** Confirms, deletes the agents that are not referenced, and reports why the others were kept. */
export const DeleteManyDialog = ({ rows, onClose }: { rows: readonly AgentRow[]; onClose: () => void }) => {
  const t = useTexts(texts);
  const [isBusy, setBusy] = useState(false);
  const [results, setResults] = useState<readonly Result[]>();
  const remove = async (): Promise<void> => {
    setBusy(true);
    const found = await deleteAll(rows.map(({ id }) => id));
    changed('agents');
    if (found.every(({ outcome }) => outcome === 'done')) {
      toast('success', t('many.done', { count: found.length }));
      onClose();
    } else setResults(found);
  };
  if (results) return <Results results={results} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={t('many.title', { count: rows.length })}
      confirm={t('many.confirm')}
      busy={isBusy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>{t('many.text')}</p>
      {rows.some(({ source }) => source !== 'user') && <p>{t('delete.builtin')}</p>}
    </ConfirmDialog>
  );
};
