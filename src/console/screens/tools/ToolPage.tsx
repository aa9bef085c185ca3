import { useParams } from '@tanstack/react-router';
import { mcpSegment } from '../../../schema/mcp-names.ts';
import type { JsonObject } from '../../data/guard.ts';
import { sourceState } from '../../data/meta.ts';
import { useResource } from '../../data/queries.ts';
import { idsOf, metaOf } from '../../data/records.ts';
import { capabilities, runtimeStats, type Tool } from '../../data/resources.ts';
import { buttonLook } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Json } from '../../design/Json.tsx';
import { Card, Page } from '../../design/Layout.tsx';
import { LoadedById } from '../../design/Loaded.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { FigureTable } from '../../list/FigureTable.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import { Description } from './Description.tsx';
import css from './Tools.module.css';
import { TryIt } from './TryIt.tsx';
import texts from './texts.json' with { type: 'json' };
import { type Definition, definitionOf, parametersOf, useCallers } from './tool.ts';

const META = metaOf('tools');

const Parameters = ({ schema }: { schema: JsonObject }) => {
  const t = useTexts(texts);
  const parameters = parametersOf(schema);
  if (parameters.length === 0) return <p className="quiet inset">{t('parameters.none')}</p>;
  return (
    <FigureTable
      label={t('parameters')}
      columns={[t('column.name'), t('parameter.type'), t('column.description')]}
      rows={parameters.map(({ name, type, isRequired, description }) => ({
        key: name,
        name: (
          <>
            <code>{name}</code>
            {isRequired && <span className={css.required}> {t('parameter.required')}</span>}
          </>
        ),
        figures: [<code key="type">{type}</code>, description || '—'],
      }))}
      hasTexts
    />
  );
};

/** Agents that may call the tool, or have called it, with their calls. */
const Callers = ({ id, callers }: { id: string; callers: readonly string[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { data, error } = useResource(runtimeStats);
  const calls = new Map(
    (data?.agents ?? []).flatMap(({ agent_id, tool_calls_by_tool }) =>
      tool_calls_by_tool.filter(({ tool }) => tool === id).map((stats) => [agent_id, stats] as const),
    ),
  );
  const countOf = (agent: string): number => calls.get(agent)?.call_count ?? 0;
  const agents = [...new Set([...calls.keys(), ...callers])].sort((a, b) => countOf(b) - countOf(a));
  if (agents.length === 0) return <p className="quiet inset">{t('agents.none')}</p>;
  return (
    <FigureTable
      label={t('callers')}
      columns={(['agent', 'calls', 'failed', 'p95'] as const).map((key) => t(`callers.${key}`))}
      rows={agents.map((agent) => {
        const stats = calls.get(agent);
        const share = stats && stats.call_count > 0 ? stats.failure_count / stats.call_count : 0;
        return {
          key: agent,
          name: (
            <ScreenLink to={`/agents/${encodeURIComponent(agent)}?tab=tools`}>
              <code>{agent}</code>
            </ScreenLink>
          ),
          figures: [
            error ? '—' : format.number(countOf(agent)),
            stats ? format.percent(share) : '—',
            stats ? format.duration(stats.p95_duration_ms) : '—',
          ],
        };
      })}
    />
  );
};

const Source = ({ source }: { source: Tool['source'] | undefined }) => {
  const t = useTexts(texts);
  const servers = useResource(idsOf('mcp-servers'), source?.kind === 'mcp').data;
  if (!source) return null;
  if (source.kind !== 'mcp')
    return <Chip>{t(source.kind === 'plugin' ? 'kind.plugin' : 'kind.builtin')}</Chip>;
  // A tool id contains a segment of its server's id, which several servers may share, or which may no
  // longer belong to any server.
  const [server, ...others] = servers?.filter((id) => mcpSegment(id) === source.id) ?? [];
  const chip = (
    <Chip tone="info">
      {t('kind.mcp')} {server ?? source.id}
    </Chip>
  );
  if (!server || others.length > 0) return chip;
  return <ScreenLink to={`/mcp-servers/${encodeURIComponent(server)}`}>{chip}</ScreenLink>;
};

/** The description of a built-in tool can be overridden; other tools are described at their source. */
const Whole = ({ tool }: { tool: Definition }) => {
  const t = useTexts(texts);
  const { id, name, description, parameters_schema: schema } = tool;
  const source = useResource(capabilities).data?.tools.find((one) => one.id === id)?.source;
  const meta = useResource(META).data;
  const callers = useCallers()(id);
  const own = meta?.get(id);
  return (
    <Page
      title={id}
      purpose={name}
      actions={
        <>
          {sourceState(own) === 'customized' && <Chip tone="info">{t('customized')}</Chip>}
          <Source source={source} />
          <ScreenLink to={`/audit-log?resource=${encodeURIComponent(`tools/${id}`)}`} className={buttonLook}>
            {t('audit')}
          </ScreenLink>
        </>
      }
    >
      <div className={`aside ${css.columns}`}>
        <TryIt key={id} tool={tool} agents={callers} />
        <div className="stack" data-wide>
          <Card title={t('column.description')}>
            {own ? (
              <Description key={id} id={id} />
            ) : (
              <div className="stack">
                <p className={css.text}>{description}</p>
                <p className="quiet">{t('locked')}</p>
              </div>
            )}
          </Card>
          <Card title={t('parameters')} flush>
            <Parameters schema={schema} />
            <details className="ruled inset">
              <summary>{t('model')}</summary>
              <Json value={{ name: id, description, parameters: schema }} />
            </details>
          </Card>
          <Card title={t('callers')} flush>
            <Callers id={id} callers={callers} />
          </Card>
        </div>
      </div>
    </Page>
  );
};

export default function ToolPage() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  return (
    <LoadedById
      query={useResource(definitionOf(id))}
      list={capabilities}
      unknown={
        <NoSuch title={t('notFound', { id })} to="/tools" all={t('all')}>
          {t('notFoundText')}
        </NoSuch>
      }
    >
      {(tool) => <Whole tool={tool} />}
    </LoadedById>
  );
}
