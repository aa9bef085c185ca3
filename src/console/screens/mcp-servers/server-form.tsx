import { useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { TextField } from '../../design/Inputs.tsx';
import css from '../../entry/Entry.module.css';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import { objectOf, type Spec } from '../../entry/entry.ts';
import { Kept, PairsField } from '../../entry/SecretField.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import type { SeenProps } from '../../schema-form/context.ts';
import { bodyOf, check, isPairs, scheduleOf, serversIn } from './mcp-server.ts';
import texts from './texts.json' with { type: 'json' };

/** The service never returns the values of a stored environment, so it is kept, replaced or removed as a whole. */
const Environment = ({ label, value, onChange }: SeenProps) => {
  const t = useTexts(texts);
  const form = useEntryForm();
  const { env_keys: names } = form.opened.start;
  const stored = Array.isArray(names) ? names : [];
  const isStored = stored.length > 0;
  return (
    <Kept
      title={label}
      isStored={isStored}
      isCleared={isPairs(value) && Object.keys(value).length === 0}
      about={t('env.names', { names: stored.join(', ') })}
      error={form.errors.get('env')}
      onKeep={() => onChange(undefined)}
      onClear={() => onChange({})}
    >
      {() => (
        <>
          <PairsField
            value={isPairs(value) ? value : {}}
            onChange={(env) => onChange(!isStored && Object.keys(env).length === 0 ? undefined : env)}
          />
          {isStored && <p className="quiet">{t('env.whole')}</p>}
        </>
      )}
    </Kept>
  );
};

/** Reads a configuration of another MCP client, typed, pasted or from the clipboard, and fills the form. */
const Paste = () => {
  const t = useTexts(texts);
  const form = useEntryForm();
  const [typed, type] = useState('');
  const [found, setFound] = useState<readonly Spec[]>([]);
  const [isBad, setBad] = useState(false);
  if (!form.opened.isNew) return null;
  const fill = (server: Spec): void =>
    form.set({
      command: undefined,
      args: undefined,
      url: undefined,
      env: undefined,
      config: undefined,
      ...server,
    });
  const read = (written: string): void => {
    const servers = serversIn(written);
    type(written);
    setFound(servers);
    setBad(servers.length === 0 && written.trim() !== '');
    if (servers[0]) fill(servers[0]);
  };
  return (
    <details className={css.box}>
      <summary>{t('paste')}</summary>
      <TextField
        label={t('paste.json')}
        error={isBad ? t('paste.bad') : undefined}
        isCode
        rows={4}
        placeholder={'{"mcpServers": {"files": {"command": "npx", "args": ["…"]}}}'}
        value={typed}
        onChange={read}
      />
      <span className="row">
        {'clipboard' in navigator && (
          <Button
            small
            icon="copy"
            onClick={() => void navigator.clipboard.readText().then(read, () => setBad(true))}
          >
            {t('paste.clipboard')}
          </Button>
        )}
        {found.length > 1 &&
          found.map((server) => (
            <Button key={server.id} small onClick={() => fill(server)}>
              {server.id}
            </Button>
          ))}
        <span className="quiet" role="status">
          {found.length > 0 && t('paste.filled', { id: form.draft.id })}
        </span>
      </span>
    </details>
  );
};

/** The pauses that the restart policy results in. */
const Schedule = () => {
  const t = useTexts(texts);
  const format = useFormat();
  const policy = objectOf(useEntryForm().draft.restart_policy);
  if (policy.enabled !== true) return null;
  const { pauses, givesUp } = scheduleOf(policy);
  return (
    <p className="quiet">
      {t('schedule', { pauses: pauses.map((ms) => format.duration(ms)).join(', ') })}
      {givesUp ? `, ${t('schedule.end')}` : ', …'}
    </p>
  );
};

const HIDDEN = { 'ui:widget': 'hidden' };

/** A server that is not connected again has no pauses. */
const NO_PAUSES = {
  max_attempts: HIDDEN,
  delay_ms: HIDDEN,
  backoff_multiplier: HIDDEN,
  max_delay_ms: HIDDEN,
};

export const SERVER: EntryDescriptor = {
  namespace: 'mcp-servers',
  entity: 'entity.mcpServer',
  texts,
  start: { id: '', transport: 'stdio', command: '', restart_policy: { enabled: true } },
  fields: ({ transport }) => [
    'id',
    'transport',
    ...(transport === 'http' ? ['url'] : ['command', 'args']),
    'timeout_secs',
    'env',
    'config',
    'pin_tools',
    'restart_policy',
  ],
  ui: ({ restart_policy: policy }) => ({
    args: { 'ui:widget': 'lines', 'ui:options': { rows: 3 } },
    env: { 'ui:widget': 'environment' },
    restart_policy: objectOf(policy).enabled === true ? {} : NO_PAUSES,
  }),
  widgets: { environment: Environment },
  check,
  bodyOf,
  Before: Paste,
  After: Schedule,
};
