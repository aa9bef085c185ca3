import { useState } from 'react';
import { list, number, object, optional, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';
import { CheckField, Field } from '../../design/Field.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './Datasets.module.css';
import { ImportForm } from './ImportForm.tsx';
import { texts } from './texts.ts';

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
  const chosen = runs.map(({ run_id }) => run_id).filter((id) => !left.has(id));
  const toggle = (id: string, isWanted: boolean): void => {
    const next = new Set(left);
    if (isWanted) next.delete(id);
    else next.add(id);
    leave(next);
  };
  return (
    <ImportForm
      title={t('dialogue.title')}
      dataset={props.id}
      revision={props.revision}
      from="import-dialogue"
      body={{ run_ids: chosen, ...(fixtureId && { fixture_id: fixtureId }) }}
      isReady={chosen.length > 0}
      guard={Imported}
      said={({ fixture_id }) => t('dialogue.done', { id: fixture_id })}
      onClose={props.onClose}
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
    </ImportForm>
  );
};
