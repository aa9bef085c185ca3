import { useResource } from '../../data/queries.ts';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { shortId } from '../../run-records/RunChip.tsx';
import { threadHref } from '../../run-records/run.ts';
import { type Fork, treeOf } from './fork-tree.ts';
import texts from './texts.json' with { type: 'json' };
import { forksOf, MOST_CHILDREN, type Thread } from './thread.ts';

/** Levels beyond this one are not indented further. */
const DEEPEST = 8;

const Row = ({ fork: { thread, depth }, current }: { fork: Fork; current: string }) => {
  const t = useTexts(texts);
  const { id, title, preview, agent_id, forked_from, updated_at } = thread;
  const isCurrent = id === current;
  return (
    <li
      className="item"
      aria-current={isCurrent || undefined}
      style={{ paddingInlineStart: 14 + Math.min(depth, DEEPEST) * 18 }}
    >
      <span className="cut" style={{ flex: '0 1 auto' }} dir="auto">
        <ScreenLink to={threadHref(id)} title={id}>
          {title ?? preview ?? <code>{shortId(id)}</code>}
        </ScreenLink>
      </span>
      <span className="quiet">
        {[
          isCurrent && t('lineage.this'),
          forked_from && t('lineage.forked', { seq: forked_from.seq }),
          agent_id,
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
      <span className="quiet push">
        <Ago at={updated_at} />
      </span>
    </li>
  );
};

/** The threads that this one comes from, those that come from it, and the others of its resource, such as a chat. */
export const Forks = ({ thread }: { thread: Thread }) => {
  const t = useTexts(texts);
  const query = useResource(forksOf(thread));
  return (
    <Loaded query={query}>
      {(found) => {
        const forks = treeOf(found);
        if (forks.length <= 1) return <EmptyState title={t('tab.lineage')}>{t('lineage.none')}</EmptyState>;
        return (
          <>
            {found.length >= MOST_CHILDREN && (
              <Notice plain title={t('lineage.cut', { count: MOST_CHILDREN })} />
            )}
            <ul className="divided">
              {forks.map((fork) => (
                <Row key={fork.thread.id} fork={fork} current={thread.id} />
              ))}
            </ul>
          </>
        );
      }}
    </Loaded>
  );
};
