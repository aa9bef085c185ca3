import { useState } from 'react';
import { list, number, object, optional, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { CheckField, Field } from '../../design/Field.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import css from './Datasets.module.css';
import { texts } from './texts.ts';
import { changedDatasets } from './write.ts';

const threads: Resource<{ items: { id: string; title: string | undefined }[] }> = {
  path: '/v1/threads/summaries',
  query: { limit: 100 },
  guard: object({ items: list(object({ id: text, title: optional(text) })) }),
};

const Run = object({ run_id: text, status: text, created_at: number });

/** Those that have ended, the oldest first. */
const runsOf = (threadId: string): Resource<{ items: ReturnType<typeof Run>[] }> => ({
  path: pathOf`/v1/threads/${threadId}/runs`,
  query: { limit: 200 },
  guard: object({ items: list(Run) }),
});

const Imported = object({ fixture_id: text });

/** Runs of a thread become one test case: each of them is a turn of it. */
export const ImportDialogue = (props: { id: string; revision: number; onClose: () => void }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const known = useResource(threads).data?.items ?? [];
  const [thread, setThread] = useState('');
  const query = useResource(runsOf(thread), thread !== '');
  const runs = (query.data?.items ?? [])
    .filter(({ status }) => status === 'done')
    .toSorted((a, b) => a.created_at - b.created_at);
  const [left, leave] = useState<ReadonlySet<string>>(new Set());
  const [fixtureId, setFixtureId] = useState('');
  const [phrase, setPhrase] = useState('');
  const [busy, setBusy] = useState(false);
  const chosen = runs.map(({ run_id }) => run_id).filter((id) => !left.has(id));
  const toggle = (id: string, isWanted: boolean): void => {
    const next = new Set(left);
    if (isWanted) next.delete(id);
    else next.add(id);
    leave(next);
  };
  const load = async (): Promise<void> => {
    setBusy(true);
    const body = {
      expected_revision: props.revision,
      run_ids: chosen,
      ...(fixtureId && { fixture_id: fixtureId }),
      expected: { final_answer_contains: [phrase] },
    };
    try {
      const path = pathOf`/v1/eval/datasets/${props.id}/import-dialogue`;
      const { fixture_id: id } = await send({ method: 'POST', path, body }, Imported);
      toast('success', t('dialogue.done', { id }));
      changedDatasets();
      props.onClose();
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('dialogue.title')} onClose={props.onClose}>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void load();
        }}
      >
        <Field label={t('dialogue.thread')} required>
          {(control) => (
            <select {...control} value={thread} onChange={({ target }) => setThread(target.value)}>
              <option value="">—</option>
              {known.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title ?? id}
                </option>
              ))}
            </select>
          )}
        </Field>
        {thread !== '' && (
          <fieldset className={css.box}>
            <legend>{t('dialogue.runs')}</legend>
            {runs.length === 0 && <p className={css.quiet}>{t('dialogue.none')}</p>}
            {runs.map(({ run_id: id, created_at }) => (
              <CheckField
                key={id}
                label={`${format.date(created_at * 1000)} · ${id.slice(-8)}`}
                checked={!left.has(id)}
                onChange={(isWanted) => toggle(id, isWanted)}
              />
            ))}
          </fieldset>
        )}
        <Field label={t('dialogue.id')}>
          {(control) => (
            <input
              {...control}
              type="text"
              value={fixtureId}
              onChange={({ target }) => setFixtureId(target.value)}
            />
          )}
        </Field>
        <Field label={t('traces.phrase')} required>
          {(control) => (
            <input
              {...control}
              type="text"
              value={phrase}
              onChange={({ target }) => setPhrase(target.value)}
            />
          )}
        </Field>
        <DialogActions>
          <Button onClick={props.onClose}>{t('cancel')}</Button>
          <Button type="submit" tone="primary" disabled={busy || chosen.length === 0 || phrase.trim() === ''}>
            {t('import')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};
