import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { CopyButton } from '../../design/Copy.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { useEntries } from '../../entry/use-entries.ts';
import { toastError } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { endpointOf, SERVERS, type Server, statusOf } from './mcp-server.ts';
import { HealthChip, RestartButton, verifyTools } from './server-actions.tsx';
import { SERVER } from './server-form.tsx';
import texts from './texts.json' with { type: 'json' };

/** Interval between reads of the status of a row. */
const EVERY_MS = 15_000;

/** Each row reads its own status. */
const Health = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const query = useResource(statusOf(id, EVERY_MS));
  if (query.data) return <HealthChip status={query.data} />;
  return <Chip>{query.error ? t('health.unknown') : '…'}</Chip>;
};

const columnsOf: ColumnsOf<Server, keyof typeof texts> = (t) => [
  { id: 'status', drawn: ({ id }) => <Health id={id} /> },
  { id: 'transport', label: t('field.transport'), value: (row) => row.transport },
  {
    id: 'endpoint',
    value: endpointOf,
    shortened: true,
    cell: (row, mark) => (
      <span className="mono">
        {mark(redactText(endpointOf(row)))}
        <CopyButton text={redactText(endpointOf(row))} />
      </span>
    ),
  },
  {
    id: 'env',
    label: t('field.env'),
    isCode: true,
    shortened: true,
    value: (row) => row.env_keys.join(', '),
  },
];

export default function McpServers() {
  return (
    <EntryScreen
      kind={SERVER}
      texts={texts}
      entries={useEntries(SERVERS)}
      columns={columnsOf}
      pages="/mcp-servers"
      rowActions={({ id }, { t }) => (
        <>
          <Button small onClick={() => void verifyTools(id).catch(toastError)}>
            {t('verify')}
          </Button>
          <RestartButton id={id} isSmall />
        </>
      )}
    />
  );
}
