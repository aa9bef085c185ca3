import { isObject, list, object, text, withDefault } from '../../../data/guard.ts';
import { useResource } from '../../../data/queries.ts';
import { idsOf } from '../../../data/records.ts';
import { Icon } from '../../../design/Icon.tsx';
import { Card } from '../../../design/Layout.tsx';
import { EntryFields } from '../../../entry/EntryFields.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { useAgent } from '../agent-form.ts';
import fieldTexts from '../fields/texts.json' with { type: 'json' };
import { McpAccess } from './McpAccess.tsx';
import { FIELDS, fieldsOf, SIDES, selectionOf, withServer } from './selection.ts';
import { ToolTable } from './ToolTable.tsx';
import texts from './texts.json' with { type: 'json' };

/** The tools that an agent may call: the allowed ones except those that are excluded or denied by permissions. */

const NO_SERVERS: readonly string[] = [];

const Bound = list(object({ id: text, label: withDefault(text, '') }));

const boundIn = (assistant: unknown) => {
  try {
    return isObject(assistant) ? Bound(assistant.bound_tools ?? [], '') : [];
  } catch {
    return [];
  }
};

/** A read-only list of the tools that only the admin assistant has. */
const AssistantTools = ({ assistant }: { assistant: unknown }) => {
  const t = useTexts(texts);
  const tools = boundIn(assistant);
  if (tools.length === 0) return null;
  return (
    <details className="quiet">
      <summary>
        <Icon name="lock" size={14} /> {t('assistant', { count: tools.length })}
      </summary>
      <ul>
        {tools.map(({ id, label }) => (
          <li key={id}>
            <span className="mono">{id}</span> <span className="quiet cut">{label}</span>
          </li>
        ))}
      </ul>
    </details>
  );
};

export default function Tools() {
  const field = useTexts(fieldTexts);
  const { form, capabilities } = useAgent();
  const { draft, set } = form;
  const servers = useResource(idsOf('mcp-servers')).data ?? NO_SERVERS;
  const allowed = selectionOf(draft, 'allowed');
  return (
    <>
      {servers.length > 0 && (
        <McpAccess
          servers={servers}
          selection={allowed}
          onChange={(server, wanted) => set(fieldsOf('allowed', withServer(allowed, server, wanted)))}
        />
      )}
      <ToolTable servers={servers} />
      {SIDES.map((side) => (
        <EntryFields key={side} fields={[FIELDS[side].patterns]} />
      ))}
      <Card title={field('provider')}>
        <EntryFields fields={['provider_tools']} />
      </Card>
      <AssistantTools assistant={capabilities.admin_assistant} />
    </>
  );
}
