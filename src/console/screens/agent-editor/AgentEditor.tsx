import { useParams } from '@tanstack/react-router';
import { statusOf } from '../../data/error.ts';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { type Capabilities, capabilities } from '../../data/resources.ts';
import { ErrorBox, Loaded } from '../../design/Loaded.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import css from './AgentEditor.module.css';
import { discoveredAt } from './draft.ts';
import { Editor } from './Editor.tsx';
import { RemoteAgent } from './RemoteAgent.tsx';
import { texts } from './texts.ts';
import { useOpened } from './use-opened-agent.ts';

/** One agent: discovered at another service and read-only, or editable. */

const Missing = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  return (
    <NoSuch title={t('missing.title', { id })} to="/agents" all={t('back')}>
      {t('missing.text')}
    </NoSuch>
  );
};

const LOCAL = recordsOf('agents', NamedRecord);

/** Agents of other services have ids such as `server/agent`. A local agent may have such an id, too. */
const mayBeDiscovered = (id: string | undefined, known: Capabilities): id is string =>
  id?.includes('/') === true && known.agents.includes(id);

const Opened = ({ id, known }: { id: string | undefined; known: Capabilities }) => {
  const isSlashed = mayBeDiscovered(id, known);
  const local = useResource(LOCAL, isSlashed);
  if (!isSlashed) return <Stored id={id} known={known} />;
  return (
    <Loaded query={local}>
      {(agents) =>
        agents.some((agent) => agent.id === id) ? (
          <Stored id={id} known={known} />
        ) : (
          <RemoteAgent id={id} server={id.slice(0, id.indexOf('/'))} />
        )
      }
    </Loaded>
  );
};

const Stored = ({ id, known }: { id: string | undefined; known: Capabilities }) => {
  const [{ from }] = useQueryState();
  const localKind = known.backends[0]?.kind ?? '';
  const opening = useOpened({ id, from, localKind });
  const { editing, error } = opening;
  if (error !== undefined && id !== undefined && statusOf(error) === 404) return <Missing id={id} />;
  if (error !== undefined) {
    return (
      <div className={css.alone}>
        <ErrorBox error={error} onRetry={opening.retry} />
      </div>
    );
  }
  if (!editing) return <SkeletonRows />;
  const server = discoveredAt(editing.start);
  if (server !== undefined && !editing.isNew) return <RemoteAgent id={editing.start.id} server={server} />;
  return (
    <Editor
      key={editing.key}
      editing={editing}
      opening={opening}
      capabilities={known}
      localKind={localKind}
    />
  );
};

export default function AgentEditor() {
  // The route `/agents/new` has no id.
  const { id }: { id?: string } = useParams({ strict: false });
  const query = useResource(capabilities);
  return (
    <Loaded query={query} off={capabilities.off}>
      {(known) => <Opened id={id} known={known} />}
    </Loaded>
  );
}
