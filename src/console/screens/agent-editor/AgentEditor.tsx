import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { useResource } from '../../data/queries.ts';
import { idsOf } from '../../data/records.ts';
import { type Capabilities, capabilities } from '../../data/resources.ts';
import { Chip } from '../../design/Chip.tsx';
import { Card } from '../../design/Layout.tsx';
import { ErrorBox, Loaded } from '../../design/Loaded.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import type { Opened, Spec } from '../../entry/entry.ts';
import { readKept } from '../../entry/kept-draft.ts';
import { useOpening } from '../../entry/use-opened-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import { AgentCard } from '../../remote/AgentCard.tsx';
import { remoteStatus } from '../../remote/status.ts';
import remoteTexts from '../../remote/texts.json' with { type: 'json' };
import css from './AgentEditor.module.css';
import { AGENT } from './agent-form.ts';
import { copyOf, discoveredAt, newDraft } from './draft.ts';
import { Editor } from './Editor.tsx';
import { BackLink } from './Header.tsx';
import texts from './texts.json' with { type: 'json' };

/** One agent: discovered at another service and read-only, or editable. */

const ConnectTo = lazy(() => import('./connect/ConnectTo.tsx'));

/** A read-only agent of another service with its card. */
const RemoteAgent = ({ id, server }: { id: string; server: string }) => {
  const t = useTexts(texts);
  const remote = useTexts(remoteTexts);
  const query = useResource(remoteStatus(server));
  return (
    <div className={css.alone}>
      <BackLink />
      <div className={css.title}>
        <h1>{id}</h1>
        <Chip tone="agent">{t('remote.title', { server })}</Chip>
      </div>
      <p className="quiet">{t('remote.text')}</p>
      <Card title={remote('card')}>
        <Loaded query={query}>{(found) => <AgentCard server={server} status={found} />}</Loaded>
      </Card>
      <Suspense>
        <ConnectTo agentId={id} />
      </Suspense>
    </div>
  );
};

/** A draft of another part of the console, such as the assistant, precedes a copied agent. */
const createdFrom = (copied: Spec | undefined, localKind: string): Opened => {
  const start = newDraft(localKind);
  const handed = readKept(undefined, 'agent');
  if (handed?.kept === undefined && handed)
    return { isNew: true, start, meta: undefined, copied: { ...start, ...handed.spec } };
  return { isNew: true, start: copied ? copyOf(copied, localKind) : start, meta: undefined };
};

type StoredProps = { id: string | undefined; known: Capabilities; onCreated: (id: string) => void };

const Stored = ({ id, known, onCreated }: StoredProps) => {
  const t = useTexts(texts);
  const [{ from }] = useQueryState();
  const localKind = known.backends[0]?.kind ?? '';
  const [isNew] = useState(id === undefined);
  const create = isNew ? (copied: Spec | undefined) => createdFrom(copied, localKind) : undefined;
  const { opened, schema, query } = useOpening(AGENT, isNew ? from : id, create);
  if (!opened || !schema) {
    if (!query.error) return <SkeletonRows />;
    if (id !== undefined && statusOf(query.error) === 404)
      return (
        <NoSuch title={t('missing.title', { id })} to="/agents" all={t('back')}>
          {t('missing.text')}
        </NoSuch>
      );
    return (
      <div className={css.alone}>
        <ErrorBox error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  const server = discoveredAt(opened.start);
  if (server !== undefined && !opened.isNew) return <RemoteAgent id={opened.start.id} server={server} />;
  return <Editor opened={opened} known={{ capabilities: known, localKind, schema }} onCreated={onCreated} />;
};

/** Agents of other services have ids such as `server/agent`. A local agent may have such an id, too. */
const Slashed = (props: StoredProps & { id: string }) => {
  const { id } = props;
  const local = useResource(idsOf('agents'));
  return (
    <Loaded query={local}>
      {(agents) =>
        agents.includes(id) ? (
          <Stored {...props} />
        ) : (
          <RemoteAgent id={id} server={id.slice(0, id.indexOf('/'))} />
        )
      }
    </Loaded>
  );
};

/** The editor of a new agent stays open once the agent is stored and has received its address. */
const useOpenedId = () => {
  // The route `/agents/new` has no id.
  const { id }: { id?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [at, move] = useState<{ id?: string | undefined; key: number; created?: string }>({ id, key: 0 });
  const isSame = id !== undefined && id === at.created;
  if (at.id !== id) move({ ...at, id, key: isSame ? at.key : at.key + 1 });
  const onCreated = (created: string): void => {
    if (created === at.created) return;
    move({ ...at, created });
    const search = (before: Record<string, unknown>) => ({ ...before, from: undefined });
    void navigate({ to: `/agents/${encodeURIComponent(created)}`, search, replace: true });
  };
  return { id, key: at.key, onCreated };
};

export default function AgentEditor() {
  const { key, id, onCreated } = useOpenedId();
  const query = useResource(capabilities);
  return (
    <Loaded query={query} off={capabilities.off}>
      {(known) =>
        id?.includes('/') && known.agents.includes(id) ? (
          <Slashed key={key} id={id} known={known} onCreated={onCreated} />
        ) : (
          <Stored key={key} id={id} known={known} onCreated={onCreated} />
        )
      }
    </Loaded>
  );
}
