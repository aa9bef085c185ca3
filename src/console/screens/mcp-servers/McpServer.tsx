import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { statusOf as answeredWith } from '../../data/error.ts';
import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { redact } from '../../data/redaction.ts';
import { visibleText } from '../../data/visible-text.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Json } from '../../design/Json.tsx';
import { Card, Facts, Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Ago, DateTime } from '../../design/Time.tsx';
import { EntryEditor } from '../../entry/EntryEditor.tsx';
import { EntryMenu } from '../../entry/EntryMenu.tsx';
import { useEntryAddress, useStoredEntry } from '../../entry/use-opened-entry.ts';
import { toastError } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import { type Health, healthOf, inventoryOf, type Status, statusOf } from './mcp-server.ts';
import { acceptTools, HealthChip, RestartButton, verifyTools } from './server-actions.tsx';
import { SERVER } from './server-form.tsx';
import { Tools } from './Tools.tsx';
import texts from './texts.json' with { type: 'json' };

/** One MCP server: its connection, its tools, and what else it offers. */

/**
 * Tools whose definitions the server changed or added since an operator accepted them, which can be reviewed and
 * accepted here, and tools that agents are not offered.
 */
const ChangedTools = ({ id, status }: { id: string; status: Status }) => {
  const t = useTexts(texts);
  const [isBusy, run] = useWork();
  const { changed_tools: changed, left_out: leftOut, tools } = status;
  if (changed.length === 0 && leftOut.length === 0) return null;
  const describe = (name: string): string => tools.find((tool) => tool.name === name)?.description ?? '—';
  return (
    <Card title={t('changed.title')}>
      {changed.length > 0 && (
        <>
          <p>{t('changed.text')}</p>
          <ul className="stack">
            {changed.map(({ name, change, held, seen_at }) => (
              <li key={name}>
                <code>{visibleText(name)}</code>{' '}
                <Chip tone={held ? 'warn' : 'info'}>
                  {t(held ? 'changed.held' : change === 'new' ? 'changed.new' : 'changed.changed')}
                </Chip>{' '}
                <Ago at={seen_at} />
                <div>{visibleText(describe(name))}</div>
              </li>
            ))}
          </ul>
          <Button tone="primary" disabled={isBusy} onClick={() => run(() => acceptTools(id, changed))}>
            {t('changed.accept', { count: changed.length })}
          </Button>
        </>
      )}
      {leftOut.length > 0 && (
        <>
          <h3>{t('leftOut.title')}</h3>
          <ul className="stack">
            {leftOut.map(({ name, reason }) => (
              <li key={name}>
                <code>{visibleText(name)}</code> {reason}
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
};

const EVERY_MS = 5000;

type Transition = { health: Health; at: number; failures: number };

/** Changes of the health while the page is open, because the service does not record them. */
const useTransitions = (status: Status): readonly Transition[] => {
  const [seen, setSeen] = useState<readonly Transition[]>([]);
  const health = healthOf(status);
  const failures = status.consecutive_failures;
  useEffect(() => {
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
          status.last_error !== null && [
            t('fact.lastError'),
            <span key="error" className="bad">
              {redactText(status.last_error)}
            </span>,
          ],
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
          <ol className="stack">
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

const OfferList = (props: {
  title: string;
  items: readonly { key: string; name: string; about: string }[];
}) => {
  const t = useTexts(texts);
  return (
    <Card title={props.title}>
      <ul className="stack">
        {props.items.map(({ key, name, about }) => (
          <li key={key}>
            <code>{name}</code> <span className="quiet">{about}</span>
          </li>
        ))}
        {props.items.length === 0 && <li className="quiet">{t('detail.none')}</li>}
      </ul>
    </Card>
  );
};

const namesIn = (given: readonly { name: string }[]): string =>
  given.length === 0 ? '' : `(${given.map(({ name }) => name).join(', ')})`;

/** The prompts and the resources of the server. */
const Offered = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  return (
    <Loaded query={useResource(inventoryOf(id))} plain>
      {({ prompts, resources }) => (
        <>
          <OfferList
            title={t('detail.prompts')}
            items={prompts.map(({ prompt }) => ({
              key: prompt.name,
              name: prompt.name,
              about: [namesIn(prompt.arguments), prompt.description].filter(Boolean).join(' '),
            }))}
          />
          <OfferList
            title={t('detail.resources')}
            items={resources.map(({ resource }) => ({
              key: resource.uri,
              name: redactText(resource.uri),
              about: [resource.name, resource.mimeType].filter(Boolean).join(' · '),
            }))}
          />
        </>
      )}
    </Loaded>
  );
};

export default function McpServer() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const { query } = useStoredEntry(SERVER, id);
  const status = useResource(statusOf(id, EVERY_MS));
  const address = useEntryAddress();
  const go = useGo();
  if (answeredWith(query.error) === 404) {
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
          <Button onClick={() => void verifyTools(id).catch(toastError)}>{t('verify')}</Button>
          <RestartButton id={id} />
          <Button icon="edit" onClick={() => address.edit(id)}>
            {t('edit')}
          </Button>
          <EntryMenu kind={SERVER} id={id} onDeleted={() => go('/mcp-servers')} />
        </>
      }
    >
      <Loaded query={query}>
        {(record) => (
          <>
            <div className="halves">
              <Card title={t('detail.health')}>
                <Loaded query={status} plain>
                  {(now) => <Connection status={now} />}
                </Loaded>
              </Card>
              <Card title={t('detail.config')}>
                <Json value={redact(record)} />
              </Card>
            </div>
            <Card title={t('detail.tools')}>
              <Loaded query={status} plain>
                {(now) => <Tools id={id} status={now} />}
              </Loaded>
            </Card>
            <Loaded query={status} plain>
              {(now) => <ChangedTools id={id} status={now} />}
            </Loaded>
            <div className="halves">
              <Offered id={id} />
            </div>
          </>
        )}
      </Loaded>
      <EntryEditor descriptor={SERVER} />
    </Page>
  );
}
