import { useMemo } from 'react';
import { flag, list, nullable, object, text, withDefault } from '../../../data/guard.ts';
import { type Resource, stateOf, useResource } from '../../../data/queries.ts';
import { pathOf } from '../../../data/request.ts';
import { useAtom } from '../../../data/use-atom.ts';
import { ErrorBox } from '../../../design/Loaded.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { expressionEngine } from '../../../schema-form/expressions.ts';
import { useAgent } from '../agent-form.ts';
import { isPermissionOn, type Permission, permissionSection, permissionsOf } from './permission.ts';
import texts from './texts.json' with { type: 'json' };

/** The permission for a call of each tool. The service computes it for a stored agent, the console for a draft. */

const Preview = object({
  permission_plugin_enabled: flag,
  default_behavior: nullable(text),
  unconditionally_denied: withDefault(list(text), []),
  args_conditional_rules: withDefault(list(object({ tool: text, behavior: text, pattern: text })), []),
});

const previewOf = (id: string): Resource<ReturnType<typeof Preview>> => ({
  path: pathOf`/v1/agents/${id}/permission-preview`,
  guard: Preview,
  off: { statuses: [503] },
});

/** Permissions in the order of the tools. The result of the service takes precedence. */
export const usePermissions = (tools: readonly string[]) => {
  const { opened, draft, isDirty } = useAgent().form;
  const resource = useMemo(() => previewOf(opened.start.id), [opened.start.id]);
  const isEstimated = opened.isNew || isDirty;
  const isOn = isPermissionOn(draft);
  const asks = !isEstimated && isPermissionOn(opened.start);
  const query = useResource(resource, asks);
  const said = asks ? query.data : undefined;
  // Rules that are expressions match once their engine is loaded.
  useAtom(expressionEngine);
  const denied = new Set(said?.unconditionally_denied);
  const permissions = permissionsOf(draft, tools).map(
    (permission): Permission =>
      denied.has(permission.tool) ? { ...permission, behavior: 'deny' } : permission,
  );
  const { error } = query;
  return {
    permissions,
    isOn,
    isEstimated,
    fallback: permissionSection(draft).fallback,
    rules: said?.args_conditional_rules ?? [],
    isUnavailable: asks && error !== null && stateOf(resource, error) === 'off',
    error: asks ? error : null,
    retry: () => void query.refetch(),
  };
};

export const Summary = (props: {
  preview: ReturnType<typeof usePermissions>;
  denied: readonly { tool: { id: string } }[];
}) => {
  const t = useTexts(texts);
  const { preview, denied } = props;
  if (!preview.isOn) {
    return (
      <p className="soft inset" data-testid="permission-preview-unavailable">
        {t('permission.none')}
      </p>
    );
  }
  return (
    <div className="soft inset">
      <p>
        {t('permission.default', { behavior: t(`behavior.${preview.fallback}`) })}{' '}
        {preview.isEstimated && t('permission.estimated')}
      </p>
      {preview.isUnavailable && <p data-testid="permission-preview-unavailable">{t('permission.off')}</p>}
      {preview.error && !preview.isUnavailable && (
        <ErrorBox error={preview.error} plain onRetry={preview.retry} />
      )}
      {denied.length > 0 && (
        <p data-testid="permission-preview-denied">
          {t('denied', { count: denied.length, tools: denied.map(({ tool }) => tool.id).join(', ') })}
        </p>
      )}
      {preview.rules.length > 0 && (
        <p data-testid="permission-preview-conditional">
          {t('conditional')}{' '}
          <span className="mono">
            {preview.rules.map(({ behavior, pattern }) => `${behavior} ${pattern}`).join(' · ')}
          </span>
        </p>
      )}
    </div>
  );
};
