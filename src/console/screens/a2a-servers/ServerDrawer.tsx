import { useResource } from '../../data/queries.ts';
import { capabilities } from '../../data/resources.ts';
import { Drawer } from '../../design/Dialog.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { Freshness, freshOf } from '../../list/Freshness.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { AgentCard } from '../../remote/AgentCard.tsx';
import { remoteStatus } from '../../remote/status.ts';
import remoteTexts from '../../remote/texts.json' with { type: 'json' };
import texts from './texts.json' with { type: 'json' };

/** The card of a server, and the agents that it provides. */
export const ServerDrawer = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const t = useTexts(texts);
  const remote = useTexts(remoteTexts);
  const query = useResource(remoteStatus(id));
  const agents = useResource(capabilities).data?.agents.filter((agent) => agent.startsWith(`${id}/`));
  return (
    <Drawer title={t('detail.title', { id })} onClose={onClose} actions={<Freshness {...freshOf(query)} />}>
      <Loaded query={query} plain>
        {(status) => <AgentCard server={id} status={status} />}
      </Loaded>
      <section aria-label={remote('agents')}>
        <h3>{remote('agents')}</h3>
        {agents?.length ? (
          <ul className="stack">
            {agents.map((agent) => (
              <li key={agent}>
                <ScreenLink to={`/agents/${encodeURIComponent(agent)}`}>{agent}</ScreenLink>
              </li>
            ))}
          </ul>
        ) : (
          <p className="quiet">{remote('agents.none')}</p>
        )}
      </section>
    </Drawer>
  );
};
