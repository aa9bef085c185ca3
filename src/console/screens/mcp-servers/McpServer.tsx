import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { mcpSegment } from '../../../schema/mcp-names.ts';
import { statusOf as answeredWith } from '../../data/error.ts';
import { list, object, optional, text } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { redactText } from '../../data/redact-text.ts';
import { redact } from '../../data/redaction.ts';
import { capabilities } from '../../data/resources.ts';
import { Button, buttonLook } from '../../design/Button.tsx';
import { Json } from '../../design/Json.tsx';
import { Card, Facts, Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { StoredEntry } from '../../entry/StoredEntry.tsx';
import { useEntryAddress, useStoredEntry } from '../../entry/use-opened.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { DeleteDialog } from '../../shell/DeleteDialog.tsx';
import { ScreenLink } from '../../shell/links.tsx';
import { NoSuch } from '../../shell/NoSuch.tsx';
import { createToolFilter } from '../tools/allowed.ts';
import { ChangedTools } from './ChangedTools.tsx';
import { HealthChip } from './Health.tsx';
import css from './McpServers.module.css';
import { RestartButton } from './RestartButton.tsx';
import { verifyTools } from './restart.ts';
import { ServerForm } from './ServerForm.tsx';
import { type Health, healthOf, inventoryOf, SERVER, type Status, statusOf } from './server.ts';
import { texts } from './texts.ts';

const EVERY = 5000;

const AGENTS = recordsOf(
  'agents',
  object({
    id: text,
    allowed_tools: optional(list(text)),
    allowed_tool_patterns: optional(list(text)),
    excluded_tools: optional(list(text)),
    excluded_tool_patterns: optional(list(text)),
  }),
);

type Transition = { health: Health; at: number; failures: number };

/** Changes of its health while the page is open: the service keeps none. */
const useTransitions = (status: Status | undefined): readonly Transition[] => {
  const [seen, setSeen] = useState<readonly Transition[]>([]);
  const health = status && healthOf(status);
  const failures = status?.consecutive_failures ?? 0;
  useEffect(() => {
    if (health === undefined) return;
    setSeen((before) =>
      before[0]?.health === health ? before : [{ health, at: Date.now(), failures }, ...before].slice(0, 20),
    );
  }, [health, failures]);
  return seen;
};

const Connection = ({ status }: { status: Status }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const transitions = useTransitions(status);
  return (
    <>
      <Facts
        rows={[
          [t('column.status'), <HealthChip key="status" status={status} />],
          ...(status.last_error === null
            ? []
            : [
                [
                  t('fact.lastError'),
                  <span key="error" className={css.bad}>
                    {redactText(status.last_error)}
                  </span>,
                ] as const,
              ]),
          [t('fact.failures'), format.number(status.consecutive_failures)],
          [t('fact.attempt'), <Ago key="attempt" at={status.last_attempt_at} />],
          [t('fact.success'), <Ago key="success" at={status.last_success_at} />],
          [t('fact.init'), <Ago key="init" at={status.last_init_at} />],
          [t('fact.reconnects'), format.number(status.transport_reconnect_count)],
          [t('fact.generation'), format.number(status.session_generation)],
        ]}
      />
      {transitions.length > 1 && (
        <>
          <h3>{t('detail.transitions')}</h3>
          <ol className={css.list}>
            {transitions.map(({ health, at, failures }) => (
              <li key={at}>
                <DateTime at={at} /> · {t(`health.${health}`, { count: failures })}
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
};

const Tools = ({ id, status }: { id: string; status: Status }) => {
  const t = useTexts(texts);
  const known = useResource(capabilities).data?.tools;
  const agents = useResource(AGENTS).data;
  const filters = useMemo(
    () => (agents ?? []).map((agent) => ({ id: agent.id, allows: createToolFilter(agent) })),
    [agents],
  );
  if (status.tools.length === 0) return <p className={css.quiet}>{t('detail.none')}</p>;
  return (
    <div className={css.scroll}>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">{t('tool.name')}</th>
            <th scope="col">{t('tool.id')}</th>
            <th scope="col">{t('tool.description')}</th>
            <th scope="col">{t('tool.agents')}</th>
          </tr>
        </thead>
        <tbody>
          {status.tools.map(({ name, description }) => {
            const tool = known?.find(
              ({ source, name: own, id: toolId }) =>
                source.kind === 'mcp' &&
                source.id === mcpSegment(id) &&
                (own === name || toolId.endsWith(`__${mcpSegment(name)}`)),
            );
            const who = tool ? filters.filter(({ allows }) => allows(tool.id)).map((agent) => agent.id) : [];
            return (
              <tr key={name}>
                <td className={css.mono}>{name}</td>
                <td className={css.mono}>
                  {tool ? (
                    <ScreenLink to={`/tools/${encodeURIComponent(tool.id)}`}>{tool.id}</ScreenLink>
                  ) : (
                    <span className={css.quiet}>{t('tool.unregistered')}</span>
                  )}
                </td>
                <td>{description ?? '—'}</td>
                <td title={who.join(', ')}>{who.length}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
};

const Offered = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const inventory = useResource(inventoryOf(id));
  return (
    <>
      <Card title={t('detail.prompts')}>
        <Loaded query={inventory} plain>
          {({ prompts }) => (
            <ul className={css.list}>
              {prompts.map(({ prompt }) => (
                <li key={prompt.name}>
                  <code>{prompt.name}</code>
                  {prompt.arguments.length > 0 && (
                    <span className={css.quiet}>
                      {' '}
                      ({prompt.arguments.map(({ name }) => name).join(', ')})
                    </span>
                  )}
                  {prompt.description && <div className={css.quiet}>{prompt.description}</div>}
                </li>
              ))}
              {prompts.length === 0 && <li className={css.quiet}>{t('detail.none')}</li>}
            </ul>
          )}
        </Loaded>
      </Card>
      <Card title={t('detail.resources')}>
        <Loaded query={inventory} plain>
          {({ resources }) => (
            <ul className={css.list}>
              {resources.map(({ resource }) => (
                <li key={resource.uri}>
                  <code>{redactText(resource.uri)}</code>{' '}
                  <span className={css.quiet}>
                    {[resource.name, resource.mimeType].filter(Boolean).join(' · ')}
                  </span>
                </li>
              ))}
              {resources.length === 0 && <li className={css.quiet}>{t('detail.none')}</li>}
            </ul>
          )}
        </Loaded>
      </Card>
    </>
  );
};

export default function McpServer() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const { query } = useStoredEntry(SERVER, id);
  const status = useResource(statusOf(id, EVERY));
  const address = useEntryAddress();
  const navigate = useNavigate();
  const [isDoomed, doom] = useState(false);
  const close = (): void => {
    doom(false);
    if (query.error) void navigate({ to: '/mcp-servers' });
  };
  if (!isDoomed && answeredWith(query.error) === 404) {
    return (
      <NoSuch title={t('missing.title', { id })} to="/mcp-servers" all={t('missing.all')}>
        {t('missing.text')}
      </NoSuch>
    );
  }
  return (
    <Page
      title={id}
      actions={
        <>
          <ScreenLink
            to={`/audit-log?resource=${encodeURIComponent(`mcp-servers/${id}`)}`}
            className={buttonLook}
          >
            {t('detail.audit')}
          </ScreenLink>
          <Button onClick={() => void verifyTools(id)}>{t('verify')}</Button>
          <RestartButton id={id} />
          <Button icon="edit" onClick={() => address.edit(id)}>
            {t('edit')}
          </Button>
          <Button icon="trash" tone="danger" onClick={() => doom(true)}>
            {t('remove')}
          </Button>
        </>
      }
    >
      <Loaded query={query}>
        {(record) => (
          <div className={css.columns}>
            <Card title={t('detail.health')}>
              <Loaded query={status} plain>
                {(now) => <Connection status={now} />}
              </Loaded>
            </Card>
            <Card title={t('detail.config')}>
              <Json value={redact(record)} />
            </Card>
            <Card title={t('detail.tools')} className={css.wide} flush>
              <Loaded query={status} plain>
                {(now) => <Tools id={id} status={now} />}
              </Loaded>
            </Card>
            <Loaded query={status} plain>
              {(now) => <ChangedTools id={id} status={now} />}
            </Loaded>
            <Offered id={id} />
          </div>
        )}
      </Loaded>
      {address.id !== undefined && (
        <StoredEntry kind={SERVER} id={address.id}>
          {(opened) => <ServerForm opened={opened} onClose={address.close} />}
        </StoredEntry>
      )}
      {isDoomed && <DeleteDialog {...SERVER} id={id} onClose={close} />}
    </Page>
  );
}
