import { useMemo, useState } from 'react';
import { type JsonObject, list, number, object, optional, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';
import { toast } from '../../feedback/toasts.ts';
import { RequestDialog } from '../../fixtures/RequestDialog.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { wordsFrom } from '../../schema-form/hints.ts';
import { Checks } from './Checks.tsx';
import texts from './texts.json' with { type: 'json' };
import { importInto } from './write.ts';

const threads: Resource<{ items: { id: string; title: string | undefined }[] }> = {
  path: '/v1/threads/summaries',
  query: { limit: 100 },
  guard: object({ items: list(object({ id: text, title: optional(text) })) }),
};

const Run = object({ run_id: text, status: text, created_at: number });

/** The first 200 runs of a thread. */
const runsOf = (threadId: string): Resource<{ items: ReturnType<typeof Run>[] }> => ({
  path: pathOf`/v1/threads/${threadId}/runs`,
  query: { limit: 200 },
  guard: object({ items: list(Run) }),
});

const Imported = object({ fixture_id: text });
const UI = { run_ids: { 'ui:widget': 'checks' } };
const WIDGETS = { checks: Checks };

/** Imports the runs of a thread as one test case, with each run as a turn. */
export const ImportDialogue = (props: { id: string; revision: number; onClose: () => void }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const known = useResource(threads).data?.items ?? [];
  const [draft, setDraft] = useState<JsonObject>({});
  const { thread, run_ids, ...rest } = draft;
  const query = useResource(runsOf(String(thread)), thread !== undefined);
  const runs = (query.data?.items ?? [])
    .filter(({ status }) => status === 'done')
    .toSorted((a, b) => a.created_at - b.created_at);
  const ids = runs.map(({ run_id }) => run_id);
  // All runs are chosen until the user excludes some.
  const chosen = Array.isArray(run_ids) ? ids.filter((id) => run_ids.includes(id)) : ids;
  const names = new Map<string, string>([
    ...known.map(({ id, title }) => [`thread.${id}`, title ?? id] as const),
    ...runs.map(
      ({ run_id: id, created_at }) =>
        [`run_ids.${id}`, `${format.date(created_at * 1000)} · ${id.slice(-8)}`] as const,
    ),
  ]);
  const words = useMemo(() => wordsFrom(t, texts, (place) => `dialogue.${place}`), [t]);
  return (
    <RequestDialog
      title={t('dialogue.title')}
      submit={t('import')}
      schema={{
        type: 'object',
        required: ['thread', 'run_ids', 'phrase'],
        properties: {
          thread: { enum: known.map(({ id }) => id) },
          run_ids: { type: 'array', items: { enum: ids }, minItems: 1 },
          fixture_id: { type: 'string' },
          phrase: { type: 'string', minLength: 1 },
        },
      }}
      ui={UI}
      widgets={WIDGETS}
      words={(place) => names.get(place) ?? words(place)}
      fields={['thread', ...(thread === undefined ? [] : ['run_ids']), 'fixture_id', 'phrase']}
      value={{ ...draft, run_ids: chosen }}
      onChange={(next) => setDraft(next.thread === thread ? next : { ...next, run_ids: undefined })}
      onSubmit={async () => {
        const body = { ...rest, run_ids: chosen };
        const { fixture_id } = await importInto(props, 'import-dialogue', body, Imported);
        toast('success', t('dialogue.done', { id: fixture_id }));
        return undefined;
      }}
      onClose={props.onClose}
    />
  );
};
