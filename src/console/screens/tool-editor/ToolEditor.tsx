import { useParams } from '@tanstack/react-router';
import { mcpSegment } from '../../../schema/mcp-names.ts';
import { statusOf } from '../../data/error.ts';
import { list, object, optional, text } from '../../data/guard.ts';
import { sourceState } from '../../data/meta.ts';
import { useResource } from '../../data/queries.ts';
import { metaOf, NamedRecord, recordsOf } from '../../data/records.ts';
import { capabilities, runtimeStats, type Tool } from '../../data/resources.ts';
import { buttonLook } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Json } from '../../design/Json.tsx';
import { Card, Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { NoSuch } from '../../shell/NoSuch.tsx';
import { createToolFilter } from '../tools/allowed.ts';
import { Description } from './Description.tsx';
import css from './ToolEditor.module.css';
import { texts } from './texts.ts';
import { parametersOf, recordOf, type ToolRecord } from './tool.ts';

const META = metaOf('tools');

const SERVERS = recordsOf('mcp-servers', NamedRecord);

const AGENTS = recordsOf(
  'agents',
  object({
    id: text,
    allowed_tools: optional(list(text)),
    allowed_tool_patterns: optional(list(text)),
    excluded_tools: optional(list(text)),
    excluded_tool_patterns: optional(list(text)),
  }),
);

const Parameters = ({ record }: { record: ToolRecord }) => {
  const t = useTexts(texts);
  const parameters = parametersOf(record.parameters_schema);
  if (parameters.length === 0) return <p className={css.quiet}>{t('parameters.none')}</p>;
  return (
    <div className={css.scroll}>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">{t('parameter.name')}</th>
            <th scope="col">{t('parameter.type')}</th>
            <th scope="col">{t('parameter.required')}</th>
            <th scope="col">{t('parameter.description')}</th>
          </tr>
        </thead>
        <tbody>
          {parameters.map(({ name, type, isRequired, description }) => (
            <tr key={name}>
              <td className={css.mono}>{name}</td>
              <td className={css.mono}>{type}</td>
              <td>{t(isRequired ? 'yes' : 'no')}</td>
              <td>{description || '—'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

const Usage = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { data, error } = useResource(runtimeStats);
  if (!data) return <p className={css.quiet}>{error ? t('usage.off') : '…'}</p>;
  const rows = data.agents.flatMap(({ agent_id, tool_calls_by_tool }) =>
    tool_calls_by_tool.filter(({ tool }) => tool === id).map((stats) => ({ agent_id, ...stats })),
  );
  if (rows.length === 0) return <p className={css.quiet}>{t('usage.none')}</p>;
  return (
    <table className={css.table}>
      <thead>
        <tr>
          <th scope="col">{t('usage.agent')}</th>
          <th scope="col" data-number>
            {t('usage.calls')}
          </th>
          <th scope="col" data-number>
            {t('usage.failures')}
          </th>
          <th scope="col" data-number>
            {t('usage.p95')}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ agent_id, call_count, failure_count, p95_duration_ms }) => (
          <tr key={agent_id}>
            <td>
              <ScreenLink to={`/agents/${encodeURIComponent(agent_id)}/dashboard`}>{agent_id}</ScreenLink>
            </td>
            <td data-number>{format.number(call_count)}</td>
            <td data-number>{format.percent(call_count === 0 ? 0 : failure_count / call_count)}</td>
            <td data-number>{format.duration(p95_duration_ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const Callers = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS).data ?? [];
  const callers = agents.filter((agent) => createToolFilter(agent)(id));
  if (callers.length === 0) return <p className={css.quiet}>{t('agents.none')}</p>;
  return (
    <ul className={css.agents}>
      {callers.map((agent) => (
        <li key={agent.id}>
          <ScreenLink to={`/agents/${encodeURIComponent(agent.id)}?tab=tools`}>
            <code>{agent.id}</code>
          </ScreenLink>
        </li>
      ))}
    </ul>
  );
};

const SourceChip = ({ source }: { source: Tool['source'] | undefined }) => {
  const t = useTexts(texts);
  const servers = useResource(SERVERS, source?.kind === 'mcp').data;
  if (!source) return null;
  if (source.kind === 'mcp') {
    // A tool id has the segment of its server, which several servers may share and none may still have.
    const [server, ...others] = servers?.filter(({ id }) => mcpSegment(id) === source.id) ?? [];
    const chip = <Chip tone="info">{t('source.mcp', { id: server?.id ?? source.id ?? '' })}</Chip>;
    if (!server || others.length > 0) return chip;
    return <ScreenLink to={`/mcp-servers/${encodeURIComponent(server.id)}`}>{chip}</ScreenLink>;
  }
  return <Chip>{t(source.kind === 'plugin' ? 'source.plugin' : 'source.builtin')}</Chip>;
};

/** A tool of the service itself can be described anew; others are described where they come from. */
const Whole = ({
  id,
  tool,
  record,
}: {
  id: string;
  tool: Tool | undefined;
  record: ToolRecord | undefined;
}) => {
  const t = useTexts(texts);
  const meta = useResource(META).data;
  const own = meta?.get(id);
  const isCustomized = sourceState(own) === 'customized';
  const original = own?.base?.description;
  const effective = record?.description ?? tool?.description ?? '';
  const seen = { name: id, description: effective, ...(record && { parameters: record.parameters_schema }) };
  return (
    <Page
      title={id}
      purpose={tool?.name ?? record?.name ?? ''}
      actions={
        <>
          {isCustomized && <Chip tone="info">{t('customized')}</Chip>}
          <SourceChip source={tool?.source} />
          <ScreenLink to={`/audit-log?resource=${encodeURIComponent(`tools/${id}`)}`} className={buttonLook}>
            {t('audit')}
          </ScreenLink>
        </>
      }
    >
      <div className={css.columns}>
        {record ? (
          <Card title={t('override.title')}>
            <Description
              key={record.description}
              id={id}
              effective={record.description}
              isCustomized={isCustomized}
            />
          </Card>
        ) : (
          <Card title={t('effective')}>
            <Notice title={t('locked')} />
            <p className={css.text}>{effective}</p>
          </Card>
        )}
        <Card title={t('model')}>
          <Json value={seen} />
        </Card>
        {record && (
          <Card title={t('parameters')} flush>
            <Parameters record={record} />
          </Card>
        )}
        {typeof original === 'string' && (
          <Card title={t('original')}>
            <p className={css.text}>{original}</p>
          </Card>
        )}
        <Card title={t('usage')} flush>
          <Usage id={id} />
        </Card>
        <Card title={t('agents')}>
          <Callers id={id} />
        </Card>
      </div>
    </Page>
  );
};

export default function ToolEditor() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const known = useResource(capabilities);
  const record = useResource(recordOf(id));
  const tool = known.data?.tools.find((one) => one.id === id);
  const isUnstored = statusOf(record.error) === 404;
  if (known.data && isUnstored && !tool) {
    return (
      <NoSuch title={t('notFound', { id })} to="/tools" all={t('all')}>
        {t('notFoundText')}
      </NoSuch>
    );
  }
  if (known.data && isUnstored) return <Whole id={id} tool={tool} record={undefined} />;
  return <Loaded query={record}>{(stored) => <Whole id={id} tool={tool} record={stored} />}</Loaded>;
}
