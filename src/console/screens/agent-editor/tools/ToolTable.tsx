import { useMemo, useState } from 'react';
import type { Tool } from '../../../data/resources.ts';
import { Chip } from '../../../design/Chip.tsx';
import { boxLook, controlLook, FilterSelect } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { Notice } from '../../../design/Notice.tsx';
import { Scroller } from '../../../design/Scroller.tsx';
import { toast } from '../../../feedback/toasts.ts';
import { useFormat, useTexts } from '../../../i18n/locale.ts';
import css from '../AgentEditor.module.css';
import { useAgent } from '../agent-form.ts';
import { SearchInput } from '../SearchInput.tsx';
import { Summary, usePermissions } from './PermissionSummary.tsx';
import { BEHAVIORS, type Behavior, type Permission, permissionsOf, withDecision } from './permission.ts';
import { selectionOf, tokensOf, type Verdict, verdictsOf, withTool } from './selection.ts';
import texts from './texts.json' with { type: 'json' };

/** All tools with their visibility, source, permission and size. */

/** A selection of all tools is reported from this number of tokens on. */
const MANY_TOKENS = 500;

type Row = { tool: Tool; isGone: boolean; verdict: Verdict; permission: Permission | undefined };

/** The tools of the service, and names in the spec that no tool has. */
const useRows = (servers: readonly string[]) => {
  const { form, capabilities } = useAgent();
  const { draft } = form;
  const { tools } = capabilities;
  return useMemo(() => {
    const known = new Set(tools.map(({ id }) => id));
    const gone = selectionOf(draft, 'allowed').names.filter((id) => !known.has(id));
    const all = [
      ...tools,
      ...gone.map((id) => ({
        id,
        name: id,
        description: '',
        source: { kind: 'gone', id: undefined },
        request_bytes: undefined,
      })),
    ];
    const verdicts = verdictsOf(
      draft,
      all.map(({ id }) => id),
      servers,
    );
    return all.map((tool, index) => ({ tool, isGone: !known.has(tool.id), verdict: verdicts[index] }));
  }, [draft, tools, servers]);
};

const Source = ({ tool: { source } }: Row) => {
  const t = useTexts(texts);
  const kind = (['builtin', 'plugin', 'mcp'] as const).find((known) => known === source.kind);
  if (!kind) return <Chip tone="error">{t('source.gone')}</Chip>;
  return (
    <>
      {t(`source.${kind}`)} {source.id}
    </>
  );
};

const Decision = ({ row }: { row: Row }) => {
  const t = useTexts(texts);
  const { draft, set } = useAgent().form;
  const { tool, permission, verdict } = row;
  if (!permission || !verdict.isVisible) return '—';
  const { behavior, by, conditional } = permission;
  const decide = (wanted: Behavior): void => {
    const fields = withDecision(draft, tool.id, wanted);
    const [after] = permissionsOf({ ...draft, ...fields }, [tool.id]);
    if (after?.behavior === wanted) set(fields);
    else toast('error', t('rule.stronger', { rule: after?.by ?? '' }));
  };
  return (
    <span className={css.decision}>
      <select
        className={controlLook}
        data-behavior={behavior}
        aria-label={t('permission.of', { tool: tool.id })}
        value={behavior}
        onChange={({ target }) => {
          const wanted = BEHAVIORS.find((known) => known === target.value);
          if (wanted) decide(wanted);
        }}
      >
        {BEHAVIORS.map((known) => (
          <option key={known} value={known}>
            {t(`behavior.${known}`)}
          </option>
        ))}
      </select>
      {by !== undefined && by !== tool.id && <code title={t('rule.by', { rule: by })}>{by}</code>}
      {conditional.map((rule) => (
        <span key={rule} className="quiet cut">
          {t('rule.conditional', { rule })}
        </span>
      ))}
    </span>
  );
};

const ToolRow = ({ row, servers }: { row: Row; servers: readonly string[] }) => {
  const t = useTexts(texts);
  const { draft, set } = useAgent().form;
  const format = useFormat();
  const { tool, verdict } = row;
  const { isVisible, reason } = verdict;
  // No name overrides a pattern that excludes the tool.
  const isLocked = reason.kind === 'excluded' && reason.by !== tool.id;
  const why =
    reason.kind === 'unlisted' ? t('reason.unlisted') : t(`reason.${reason.kind}`, { by: reason.by });
  const tokens = tokensOf(tool);
  return (
    <tr data-hidden={!isVisible || undefined}>
      <td className={css.wide}>
        <label className={css.tool} title={isLocked ? why : undefined}>
          <input
            type="checkbox"
            className={boxLook}
            checked={isVisible}
            disabled={isLocked}
            onChange={({ target }) => set(withTool(draft, tool.id, target.checked, servers))}
          />
          <span className="mono" title={why}>
            {tool.id}
          </span>
        </label>
        <span className={`quiet cut ${css.about}`} title={tool.description}>
          {isLocked ? why : tool.description}
        </span>
      </td>
      <td>
        <Source {...row} />
      </td>
      <td>
        <Decision row={row} />
      </td>
      <td data-number>{tokens === undefined ? '—' : format.number(tokens)}</td>
    </tr>
  );
};

const Costs = ({ rows }: { rows: readonly Row[] }) => {
  const t = useTexts(texts);
  const { draft } = useAgent().form;
  const format = useFormat();
  const visible = rows.filter(({ verdict }) => verdict.isVisible);
  const tokens = visible.reduce((sum, { tool }) => sum + (tokensOf(tool) ?? 0), 0);
  const isAll = selectionOf(draft, 'allowed').patterns.includes('*');
  if (!isAll || tokens < MANY_TOKENS) return null;
  return (
    <div className="soft inset">
      <Notice tone="warn" title={t('costs', { count: visible.length, tokens: format.number(tokens) })}>
        {t('costs.text')}
      </Notice>
    </div>
  );
};

export const ToolTable = ({ servers }: { servers: readonly string[] }) => {
  const t = useTexts(texts);
  const [which, choose] = useState('');
  const [search, find] = useState('');
  const plain = useRows(servers);
  const ids = useMemo(() => plain.map(({ tool }) => tool.id), [plain]);
  const preview = usePermissions(ids);
  const rows = plain.flatMap(({ verdict, ...row }, index): Row[] =>
    verdict ? [{ ...row, verdict, permission: preview.permissions[index] }] : [],
  );
  const visible = rows.filter(({ verdict }) => verdict.isVisible);
  const shown = rows.filter(
    ({ tool, verdict }) =>
      (which === '' || verdict.isVisible === (which === 'visible')) &&
      `${tool.id} ${tool.description}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  return (
    <Card
      title={t('tools')}
      note={t('tools.count', { visible: visible.length, all: rows.length })}
      flush
      actions={
        <span className="row">
          <FilterSelect
            label={t('show')}
            value={which}
            options={(['', 'visible', 'hidden'] as const).map((one) => [one, t(`show.${one || 'all'}`)])}
            onChange={choose}
          />
          <SearchInput label={t('search')} value={search} onChange={find} />
        </span>
      }
    >
      <Costs rows={rows} />
      <Summary
        preview={preview}
        denied={visible.filter(({ permission }) => permission?.behavior === 'deny')}
      />
      <Scroller label={t('tools')} className={css.frame}>
        <table className={`table ${css.table}`} data-testid="permission-preview-list">
          <thead>
            <tr>
              {(['tool', 'source', 'permission', 'tokens'] as const).map((column) => (
                <th key={column} scope="col" data-number={column === 'tokens' || undefined}>
                  {t(`column.${column}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <ToolRow key={row.tool.id} row={row} servers={servers} />
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p className="soft inset">{t('noMatch')}</p>}
      </Scroller>
    </Card>
  );
};
