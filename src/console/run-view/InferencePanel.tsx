import { useState } from 'react';
import { anyObject, anything, isObject, list, number, object, optional, text } from '../data/guard.ts';
import { type Resource, useResource } from '../data/queries.ts';
import { redactText } from '../data/redact-text.ts';
import { pathOf } from '../data/request.ts';
import { Button } from '../design/Button.tsx';
import { Chip } from '../design/Chip.tsx';
import { Json } from '../design/Json.tsx';
import { Facts, Section } from '../design/Layout.tsx';
import { Loaded } from '../design/Loaded.tsx';
import { Segmented } from '../design/Segmented.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { SearchBox } from '../list/SearchBox.tsx';
import { Transcript } from '../thread-messages/Transcript.tsx';
import css from './RunView.module.css';
import type { Span } from './span.ts';
import type { Story } from './story.ts';
import texts from './texts.json' with { type: 'json' };
import { type Recorded, recordedIn, Sent } from './trace-spans.ts';

/** The request that a model received, and its response. */

const Inference = object({
  agent_id: text,
  system: text,
  settings: anyObject,
  messages: list(Sent),
  omitted_messages: number,
  tools: list(object({ id: text, description: text, parameters: anything })),
  response: optional(Sent),
});

const inferenceOf = (runId: string, step: number): Resource<ReturnType<typeof Inference>> => ({
  path: pathOf`/v1/runs/${runId}/inferences/${String(step)}`,
  guard: Inference,
});

const SHOWN = 6;

/** More tools than this have a filter. */
const MANY_TOOLS = 8;

const Tools = ({ tools }: Pick<Recorded, 'tools'>) => {
  const t = useTexts(texts);
  const [q, setQ] = useState('');
  const [open, setOpen] = useState<string>();
  const found = tools.filter(({ id }) => id.toLowerCase().includes(q.trim().toLowerCase()));
  const tool = tools.find(({ id }) => id === open);
  return (
    <details className="section">
      <summary>{t('input.tools', { count: tools.length })}</summary>
      {tools.length > MANY_TOOLS && <SearchBox value={q} placeholder={t('input.filter')} onChange={setQ} />}
      <div className={`row ${css.chips}`}>
        {found.map(({ id }) => (
          <button
            key={id}
            type="button"
            aria-pressed={id === open}
            onClick={() => setOpen(id === open ? undefined : id)}
          >
            <Chip>{id}</Chip>
          </button>
        ))}
      </div>
      {tool && (
        <>
          <p>{tool.description}</p>
          <Json value={tool.parameters} label={tool.id} />
        </>
      )}
    </details>
  );
};

const Input = ({ recorded }: { recorded: Recorded }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [isWhole, setWhole] = useState(false);
  const { system, messages, omitted_messages: omitted, tools } = recorded;
  const earlier = isWhole ? 0 : Math.max(0, messages.length - SHOWN);
  return (
    <>
      {system !== undefined && system !== '' && (
        <details className="section" open={system.length < 600}>
          <summary>{t('input.system', { count: format.number(system.length) })}</summary>
          <pre className="well mono">{redactText(system)}</pre>
        </details>
      )}
      {tools.length > 0 && <Tools tools={tools} />}
      <Section title={t('common.messages')}>
        {omitted > 0 && <p className="quiet">{t('input.omitted', { count: format.number(omitted) })}</p>}
        {earlier > 0 && (
          <Button small onClick={() => setWhole(true)}>
            {t('input.earlier', { count: earlier })}
          </Button>
        )}
        {messages.length === 0 && <p className="quiet">{t('input.none')}</p>}
        <Transcript messages={messages.slice(earlier)} place="inference" />
      </Section>
    </>
  );
};

const Output = ({ span, recorded }: { span: Span; recorded: Recorded }) => {
  const t = useTexts(texts);
  if (span.error) return null;
  if (!recorded.response) return <p className="quiet">{t('output.none')}</p>;
  return <Transcript messages={[recorded.response]} place="inference" />;
};

const count = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Tokens, cost and latency, from the event or from the line of the trace. */
const Usage = ({ span }: { span: Span }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { detail, tokens, costUsd, from, to } = span;
  const usage = isObject(detail.usage) ? detail.usage : detail;
  const number = (value: unknown) => {
    const known = count(value);
    return known === undefined ? '—' : format.number(known);
  };
  const first = count(detail.first_output_ms);
  const took = to === undefined ? undefined : to - from;
  const speed = tokens && took && tokens.output > 0 ? (tokens.output * 1000) / took : undefined;
  return (
    <Facts
      rows={[
        [t('usage.model'), <code key="model">{span.name || '—'}</code>],
        [t('usage.input'), number(tokens?.input)],
        [t('usage.cached'), number(usage.cache_read_tokens ?? usage.cache_read_input_tokens)],
        [t('usage.output'), number(tokens?.output)],
        [t('usage.reasoning'), number(usage.thinking_tokens)],
        [t('usage.cost'), costUsd === undefined ? '—' : format.usd(costUsd)],
        [t('usage.latency'), took === undefined ? '—' : format.duration(took)],
        [t('usage.first'), first === undefined ? '—' : format.duration(first)],
        [
          t('usage.speed'),
          speed === undefined ? '—' : t('usage.perSecond', { count: format.number(Math.round(speed)) }),
        ],
      ]}
    />
  );
};

const VIEWS = ['input', 'output', 'usage', 'raw'] as const;
type View = (typeof VIEWS)[number];

const Views = ({ span, recorded, whole }: { span: Span; recorded: Recorded; whole: unknown }) => {
  const t = useTexts(texts);
  const [chosen, choose] = useState<View>();
  const view = chosen ?? (recorded.response ? 'output' : 'input');
  return (
    <>
      <Segmented
        label={t('views')}
        value={view}
        options={VIEWS.map((each) => [each, t(`view.${each}`)] as const)}
        onChange={choose}
      />
      {view === 'input' && <Input recorded={recorded} />}
      {view === 'output' && <Output span={span} recorded={recorded} />}
      {view === 'usage' && <Usage span={span} />}
      {view === 'raw' && <Json value={whole} label={t('view.raw')} />}
    </>
  );
};

const Stored = ({ runId, span }: { runId: string; span: Span }) => {
  const query = useResource(inferenceOf(runId, span.step));
  return (
    <Loaded query={query}>
      {(inference) => (
        <Views
          span={span}
          // A failed attempt has no response, even if a later one of the same inference has.
          recorded={{ ...inference, response: span.hasFailed ? undefined : inference.response }}
          whole={{ event: span.detail, ...inference }}
        />
      )}
    </Loaded>
  );
};

export const InferencePanel = ({ story, span }: { story: Story; span: Span }) =>
  story.run ? (
    <Stored runId={story.id} span={span} />
  ) : (
    <Views span={span} recorded={recordedIn(story.spans, span)} whole={span.detail} />
  );
