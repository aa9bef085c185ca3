import { anything, fields, list, object, optional, text } from '../../data/guard.ts';
import { type Resource, useResource } from '../../data/queries.ts';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { shortId } from '../../run-records/RunChip.tsx';
import css from './Playground.module.css';
import texts from './texts.json' with { type: 'json' };

const Summary = object({
  id: text,
  ...fields(optional(text), 'title', 'preview', 'agent_id'),
  updated_at: anything,
});

const threads: Resource<{ items: ReturnType<typeof Summary>[] }> = {
  path: '/v1/threads/summaries',
  query: { limit: 40, delegated: false, preview: true },
  guard: object({ items: list(Summary) }),
};

const SHOWN = 20;

/** Excludes threads of previews. */
const isConversation = ({ id }: { id: string }): boolean => !id.startsWith('preview-');

/** Recently changed threads, which can be continued. */
export const RecentThreads = (props: {
  threadId: string;
  onOpen: (threadId: string, agentId: string | undefined) => void;
}) => {
  const t = useTexts(texts);
  const query = useResource(threads);
  return (
    <Card title={t('threads')} flush className={css.recent}>
      <Loaded query={query} skeleton={<SkeletonRows rows={3} />}>
        {({ items: all }) => {
          const items = all.filter(isConversation).slice(0, SHOWN);
          return items.length === 0 ? (
            <p className="item">{t('threads.none')}</p>
          ) : (
            <ul>
              {items.map(({ id, title, preview, agent_id, updated_at }) => (
                <li key={id}>
                  <button
                    type="button"
                    className="item"
                    style={{ display: 'grid', gap: 1 }}
                    aria-pressed={id === props.threadId}
                    title={id}
                    onClick={() => props.onOpen(id, agent_id)}
                  >
                    <span className="cut" dir="auto">
                      {title ?? preview ?? shortId(id)}
                    </span>
                    <small className="cut soft">
                      {agent_id !== undefined && `${agent_id} · `}
                      <Ago at={updated_at} />
                    </small>
                  </button>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
};
