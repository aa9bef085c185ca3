import { useState } from 'react';
import { Code } from '../../../chat/markdown/Code.tsx';
import { models } from '../../../data/agents.ts';
import { useIdentity, useMay } from '../../../data/identity.ts';
import { useResource } from '../../../data/queries.ts';
import { backendUrl, send } from '../../../data/request.ts';
import { Button } from '../../../design/Button.tsx';
import { CopyButton } from '../../../design/Copy.tsx';
import { FilterSelect } from '../../../design/Field.tsx';
import { Card, Facts } from '../../../design/Layout.tsx';
import { Loaded } from '../../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../../design/Notice.tsx';
import { useWork } from '../../../feedback/use-work.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { CreatedKey, changedKeys, KEYS, MAKES } from '../../keys/key.ts';
import { useAgent } from '../agent-form.ts';
import { CLIENT_IDS, CLIENTS, type Client, textFor } from './clients.ts';
import { TryIt } from './TryIt.tsx';
import texts from './texts.json' with { type: 'json' };

/** Clients of OpenAI, for which the agent is a model. */

const Copied = ({ text }: { text: string }) => (
  <span className="row">
    <code className="grow">{text}</code>
    <CopyButton text={text} />
  </span>
);

/** Keys of clients belong to a user of the client; without the grant for that, to the user of the console. */
const keyFor = (client: Client, name: string, manages: boolean): object => {
  const { user, isFront } = CLIENTS[client];
  if (!manages) return { name, grants: ['member'] };
  const grants = isFront ? ['member', 'act'] : ['member'];
  return { name, user, grants, new_user: { kind: 'service', grants } };
};

/** The created keys by the user that they belong to, because a front end needs another key than a program. */
const useKeys = () => {
  const may = useMay();
  const isNamed = useIdentity().data?.user !== undefined;
  const manages = may(['manage']);
  const [made, setMade] = useState<ReadonlyMap<string, string>>(new Map());
  const [isBusy, run] = useWork();
  const create = (client: Client, name: string): void =>
    run(async () => {
      const body = keyFor(client, name, manages);
      const { key } = await send({ method: 'POST', path: KEYS, body }, CreatedKey);
      setMade(new Map(made).set(CLIENTS[client].user, key));
      changedKeys();
    });
  return { made, create, isBusy, mayCreate: manages || (isNamed && may(MAKES)), manages };
};

/** The connection of a client, a text to paste into it, and a request. */
export default function ConnectTo({ agentId }: { agentId: string }) {
  const t = useTexts(texts);
  const query = useResource(models);
  const [client, setClient] = useState<Client>('openWebUi');
  const { made, create, isBusy, mayCreate, manages } = useKeys();
  const url = backendUrl() || location.origin;
  const { user, isFront, language, isResponses, guide } = CLIENTS[client];
  const key = made.get(user);
  const name = t(`client.${client}`);
  return (
    <Loaded query={query} off={models.off}>
      {(known) => (
        <>
          {!known.some(({ id }) => id === agentId) && (
            <Notice tone="warn" title={t('hidden.title')}>
              {t('hidden.text')}
            </Notice>
          )}
          <Card
            title={t('title')}
            actions={
              <FilterSelect
                label={t('client')}
                value={client}
                options={CLIENT_IDS.map((id) => [id, t(`client.${id}`)])}
                onChange={(id) => setClient(CLIENT_IDS.find((each) => each === id) ?? 'curl')}
              />
            }
          >
            <div className="stack" data-wide>
              <Facts
                rows={[
                  [t('url'), <Copied key="url" text={`${url}/v1`} />],
                  [t('model'), <Copied key="model" text={agentId} />],
                  [
                    t('key'),
                    key === undefined ? (
                      <span key="none" className="row">
                        {mayCreate && (
                          <Button small icon="key" disabled={isBusy} onClick={() => create(client, name)}>
                            {t('key.create')}
                          </Button>
                        )}
                        <span className="quiet grow">{t(mayCreate ? 'key.none' : 'key.ask')}</span>
                      </span>
                    ) : (
                      <Copied key="made" text={key} />
                    ),
                  ],
                ]}
              />
              {key !== undefined && (
                <Notice tone="warn" title={t('key.once')}>
                  {t(isFront && manages ? 'key.front' : 'key.member', { user })}
                </Notice>
              )}
              <Code language={language} text={textFor(client, { url, agentId, key })} />
              <p className="quiet">
                <a href={`/docs/guides/${guide}`} target="_blank" rel="noopener">
                  {t('guide', { client: name })}
                </a>
              </p>
            </div>
          </Card>
          <TryIt key={client} agentId={agentId} bearer={key} isResponses={isResponses ?? false} />
        </>
      )}
    </Loaded>
  );
}

/** The tab of the editor. A new agent is no model yet. */
export function Connect() {
  const t = useTexts(texts);
  const { isNew, start } = useAgent().form.opened;
  if (isNew) return <EmptyState title={t('new.title')}>{t('new.text')}</EmptyState>;
  return <ConnectTo agentId={start.id} />;
}
