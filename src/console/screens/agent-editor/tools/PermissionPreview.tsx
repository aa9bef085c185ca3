import { useMemo, useState } from 'react';
import { flag, list, nullable, object, text, withDefault } from '../../../data/guard.ts';
import { type Loaded, type Resource, stateOf, useResource } from '../../../data/queries.ts';
import { pathOf } from '../../../data/request.ts';
import { Chip } from '../../../design/Chip.tsx';
import { CheckField } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { ErrorBox } from '../../../design/Loaded.tsx';
import { Scroller } from '../../../design/Scroller.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { type Editing, isDirty } from '../editing.ts';
import type { Draft } from '../panel.ts';
import { isPermissionOn, type Permission, permissionSection, permissionsOf } from './permission.ts';
import type { Verdict } from './selection.ts';
import css from './Tools.module.css';
import { texts } from './texts.ts';

/** What becomes of a call of each tool. Of what is stored the service says it; of a draft it is worked out here. */

const Preview = object({
  permission_plugin_enabled: flag,
  default_behavior: nullable(text),
  candidate_tools: withDefault(list(text), []),
  unconditionally_denied: withDefault(list(text), []),
  args_conditional_rules: withDefault(list(object({ tool: text, behavior: text, pattern: text })), []),
});
type Preview = ReturnType<typeof Preview>;

const previewOf = (id: string): Resource<Preview> => ({
  path: pathOf`/v1/agents/${id}/permission-preview`,
  guard: Preview,
  off: { statuses: [503] },
});

const TONES = { allow: 'success', ask: 'warn', deny: 'error' } as const;

type Row = Permission & { isVisible: boolean };

const Matrix = ({ rows }: { rows: readonly Row[] }) => {
  const t = useTexts(texts);
  return (
    <Scroller label={t('permission')} className={css.tools}>
      <table className={css.table} data-testid="permission-preview-list">
        <thead>
          <tr>
            <th scope="col">{t('column.tool')}</th>
            <th scope="col">{t('column.visible')}</th>
            <th scope="col">{t('column.behavior')}</th>
            <th scope="col">{t('column.rule')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.tool} data-hidden={!row.isVisible || undefined}>
              <td className={css.mono}>{row.tool}</td>
              <td>{t(row.isVisible ? 'visible' : 'hidden')}</td>
              <td>
                {row.isVisible && <Chip tone={TONES[row.behavior]}>{t(`behavior.${row.behavior}`)}</Chip>}
              </td>
              <td className={css.reason}>
                {row.isVisible && (row.by ? <span className={css.mono}>{row.by}</span> : t('rule.default'))}
                {row.conditional.map((rule) => (
                  <span key={rule} className={css.condition}>
                    {t('rule.conditional', { rule })}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
};

/** Where the service was asked, its word counts. */
const rowsOf = (draft: Draft, verdicts: readonly Verdict[], said: Preview | undefined): Row[] => {
  const visible = new Set(
    said?.candidate_tools ?? verdicts.filter(({ isVisible }) => isVisible).map(({ id }) => id),
  );
  const denied = new Set(said?.unconditionally_denied);
  return permissionsOf(
    draft,
    verdicts.map(({ id }) => id),
  ).map((permission) => ({
    ...permission,
    behavior: denied.has(permission.tool) ? 'deny' : permission.behavior,
    isVisible: visible.has(permission.tool),
  }));
};

const Summary = ({ rows, said }: { rows: readonly Row[]; said: Preview | undefined }) => {
  const t = useTexts(texts);
  const denied = rows.filter(({ isVisible, behavior }) => isVisible && behavior === 'deny');
  return (
    <div className={css.summary}>
      <span data-testid="permission-preview-denied">
        {t('denied', { count: denied.length, tools: denied.map(({ tool }) => tool).join(', ') || '—' })}
      </span>
      {said && said.args_conditional_rules.length > 0 && (
        <span data-testid="permission-preview-conditional">
          {t('conditional')}{' '}
          <span className={css.mono}>
            {said.args_conditional_rules.map(({ behavior, pattern }) => `${behavior} ${pattern}`).join(' · ')}
          </span>
        </span>
      )}
    </div>
  );
};

const Asked = ({ query, resource }: { query: Loaded<Preview>; resource: Resource<Preview> }) => {
  const t = useTexts(texts);
  if (!query.error) return null;
  if (stateOf(resource, query.error) === 'off') {
    return (
      <p className={css.note} data-testid="permission-preview-unavailable">
        {t('permission.off')}
      </p>
    );
  }
  return <ErrorBox error={query.error} plain onRetry={() => void query.refetch()} />;
};

export const PermissionPreview = (props: {
  draft: Draft;
  verdicts: readonly Verdict[];
  editing: Editing;
}) => {
  const t = useTexts(texts);
  const { draft, verdicts, editing } = props;
  const isOn = isPermissionOn(draft);
  const isEstimated = editing.isNew || isDirty(editing);
  const [isAll, showAll] = useState(false);
  const resource = useMemo(() => previewOf(editing.start.id), [editing.start.id]);
  const asks = !isEstimated && isPermissionOn(editing.start);
  const query = useResource(resource, asks);
  const said = asks ? query.data : undefined;
  const rows = useMemo(() => rowsOf(draft, verdicts, said), [draft, verdicts, said]);
  const { fallback } = permissionSection(draft);
  return (
    <Card
      title={t('permission')}
      note={isOn && t(isEstimated ? 'permission.estimated' : 'permission.saved')}
      flush
      actions={isOn && <CheckField label={t('permission.all')} checked={isAll} onChange={showAll} />}
    >
      {isOn ? (
        <>
          <p className={css.note}>{t('permission.default', { behavior: t(`behavior.${fallback}`) })}</p>
          {asks && <Asked query={query} resource={resource} />}
          <Summary rows={rows} said={said} />
          <Matrix rows={rows.filter(({ isVisible }) => isAll || isVisible)} />
        </>
      ) : (
        <p className={css.note} data-testid="permission-preview-unavailable">
          {t('permission.none')}
        </p>
      )}
    </Card>
  );
};
