import { useMemo } from 'react';
import { useResource } from '../../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../../data/records.ts';
import { useTexts } from '../../../i18n/locale.ts';
import type { Editing } from '../editing.ts';
import { Resettable } from '../Overridden.tsx';
import type { PanelProps } from '../panel.ts';
import { AssistantTools } from './AssistantTools.tsx';
import { Effective } from './Effective.tsx';
import { McpAccess } from './McpAccess.tsx';
import { PermissionPreview } from './PermissionPreview.tsx';
import { ProviderTools } from './ProviderTools.tsx';
import { Selector } from './Selector.tsx';
import { fieldsOf, selectionOf, verdictsOf, withServer } from './selection.ts';
import { texts } from './texts.ts';

/** What an agent may call: what is allowed, less what is excluded, less what its permissions deny. */

const SERVERS = recordsOf('mcp-servers', NamedRecord);
const SIDES = ['allowed', 'excluded'] as const;

export const Tools = ({
  draft,
  change,
  capabilities,
  errors,
  editing,
}: PanelProps & { editing: Editing }) => {
  const t = useTexts(texts);
  const records = useResource(SERVERS).data;
  const servers = useMemo(() => (records ?? []).map(({ id }) => id), [records]);
  const ids = useMemo(() => capabilities.tools.map(({ id }) => id), [capabilities]);
  const verdicts = useMemo(() => verdictsOf(draft, ids, servers), [draft, ids, servers]);
  const allowed = selectionOf(draft, 'allowed');
  return (
    <>
      <Effective verdicts={verdicts} />
      {servers.length > 0 && (
        <McpAccess
          servers={servers}
          selection={allowed}
          onChange={(server, wanted) => change(fieldsOf('allowed', withServer(allowed, server, wanted)))}
        />
      )}
      {SIDES.map((side) => (
        <Resettable key={side} field={`${side}_tool_patterns`}>
          <Selector
            title={t(`${side}.title`)}
            note={t(`${side}.note`)}
            everything={t(`${side}.all`)}
            side={side}
            tools={capabilities.tools}
            servers={servers}
            selection={selectionOf(draft, side)}
            error={errors.get(`${side}_tool_patterns`) ?? errors.get(`${side}_tools`)}
            onChange={(selection) => change(fieldsOf(side, selection))}
          />
        </Resettable>
      ))}
      <Resettable field="provider_tools">
        <ProviderTools
          value={draft.provider_tools}
          error={errors.get('provider_tools')}
          onChange={(tools) => change({ provider_tools: tools.length > 0 ? tools : undefined })}
        />
      </Resettable>
      <PermissionPreview draft={draft} verdicts={verdicts} editing={editing} />
      <AssistantTools assistant={capabilities.admin_assistant} />
    </>
  );
};
