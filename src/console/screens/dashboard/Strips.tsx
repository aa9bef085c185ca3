import { useResource } from '../../data/queries.ts';
import { NamedRecord, type Namespace, recordsOf } from '../../data/records.ts';
import { capabilities, systemInfo } from '../../data/resources.ts';
import { Card } from '../../design/Layout.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import type { ShellText } from '../../shell/screen.ts';
import { shellTexts } from '../../shell/texts.ts';
import css from './Dashboard.module.css';
import { texts } from './texts.ts';

const COUNTED: readonly [Namespace, ShellText, string][] = [
  ['agents', 'nav.agents', '/agents'],
  ['models', 'nav.models', '/models'],
  ['model-pools', 'nav.modelPools', '/model-pools'],
  ['providers', 'nav.providers', '/providers'],
  ['mcp-servers', 'nav.mcpServers', '/mcp-servers'],
  ['a2a-servers', 'nav.a2aServers', '/a2a-servers'],
];

const Count = ({ count, label, href }: { count: number | undefined; label: string; href: string }) => {
  const format = useFormat();
  return (
    <ScreenLink to={href}>
      <strong>{count === undefined ? '?' : format.number(count)}</strong>
      <span>{label}</span>
    </ScreenLink>
  );
};

const CountOf = ({ namespace, label, href }: { namespace: Namespace; label: ShellText; href: string }) => {
  const t = useTexts(shellTexts);
  return (
    <Count count={useResource(recordsOf(namespace, NamedRecord)).data?.length} label={t(label)} href={href} />
  );
};

/** How much of everything there is. */
export const Counts = () => {
  const t = useTexts(texts);
  const shell = useTexts(shellTexts);
  const known = useResource(capabilities).data;
  return (
    <Card className={css.twelve} title={t('counts.title')}>
      <div className={css.counts}>
        {COUNTED.map(([namespace, label, href]) => (
          <CountOf key={namespace} namespace={namespace} label={label} href={href} />
        ))}
        <Count count={known?.tools.length} label={shell('nav.tools')} href="/tools" />
        <Count count={known?.skills.length} label={shell('nav.skills')} href="/skills" />
      </div>
    </Card>
  );
};

export const SystemStrip = () => {
  const t = useTexts(texts);
  const format = useFormat();
  const info = useResource(systemInfo).data;
  if (!info) return null;
  const state = (isOn: boolean): string => t(isOn ? 'system.on' : 'system.off');
  return (
    <p className={css.strip}>
      <ScreenLink to="/system">
        {t('system.line', {
          version: info.version,
          uptime: format.duration(info.uptime_seconds * 1000),
          scope: info.scope_id,
        })}
      </ScreenLink>
      <span>
        {t('system.store')}: {state(info.config_store_enabled)}
      </span>
      <span>
        {t('system.audit')}: {state(info.audit_log_enabled)}
      </span>
      <span>
        {t('system.stats')}: {state(info.runtime_stats_enabled)}
      </span>
    </p>
  );
};
