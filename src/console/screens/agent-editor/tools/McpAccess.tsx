import { type Loaded, useResource } from '../../../data/queries.ts';
import { type McpStatus, mcpStatus } from '../../../data/resources.ts';
import { Button } from '../../../design/Button.tsx';
import { Dot } from '../../../design/Chip.tsx';
import { boxLook } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import css from '../AgentEditor.module.css';
import { hasServer, mcpPattern, type Selection } from './selection.ts';
import texts from './texts.json' with { type: 'json' };

/** Access to all tools of an MCP server, as one pattern per server. */

const EVERY_MS = 30_000;

const stateOf = ({ data, error }: Loaded<McpStatus>) => {
  if (error) return ['unknown', 'none'] as const;
  if (!data) return ['checking', 'none'] as const;
  if (data.permanently_failed) return ['failed', 'error'] as const;
  return data.connected ? (['connected', 'success'] as const) : (['reconnecting', 'warn'] as const);
};

const Server = (props: { id: string; isChosen: boolean; onChange: (wanted: boolean) => void }) => {
  const t = useTexts(texts);
  const status = useResource(mcpStatus(props.id, EVERY_MS));
  const [state, tone] = stateOf(status);
  return (
    <li className={css.server}>
      <label className={css.row}>
        <input
          type="checkbox"
          className={boxLook}
          checked={props.isChosen}
          onChange={(event) => props.onChange(event.target.checked)}
        />
        <strong>{props.id}</strong>
        <code className="cut">{mcpPattern(props.id)}</code>
      </label>
      <span className="quiet cut" title={status.data?.last_error}>
        <Dot tone={tone} /> {t(`mcp.${state}`)}
      </span>
      <Button small tone="quiet" disabled={status.isFetching} onClick={() => void status.refetch()}>
        {t('mcp.verify')}
      </Button>
    </li>
  );
};

export const McpAccess = (props: {
  servers: readonly string[];
  selection: Selection;
  onChange: (server: string, wanted: boolean) => void;
}) => {
  const t = useTexts(texts);
  return (
    <Card title={t('mcp')} flush>
      <ul>
        {props.servers.map((id) => (
          <Server
            key={id}
            id={id}
            isChosen={hasServer(props.selection, id)}
            onChange={(wanted) => props.onChange(id, wanted)}
          />
        ))}
      </ul>
    </Card>
  );
};
