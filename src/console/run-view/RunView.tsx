import { type ReactNode, useMemo, useState } from 'react';
import { useResource } from '../data/queries.ts';
import { Loaded } from '../design/Loaded.tsx';
import { useQueryState } from '../list/use-query-state.ts';
import { type TraceEvent, traceEvents } from '../trace-records/traces.ts';
import css from './RunView.module.css';
import { SpanPanel } from './SpanPanel.tsx';
import { notableSpan } from './span.ts';
import { type Story, storyOfTrace } from './story.ts';
import { type Selected, Waterfall } from './Waterfall.tsx';

/**
 * A run as a waterfall, with the details of the selected span next to it. Selecting a span does not change the
 * moment that the screen shows. The address contains the selected span of the run itself.
 */
export const RunView = (props: {
  story: Story;
  at?: number | undefined;
  length?: number | undefined;
  /** Whether the address contains the selection, for screens with one run. */
  isLinked?: boolean;
  /** The details are below the waterfall, for drawers. */
  isNarrow?: boolean;
  rowTestId?: string;
  head?: ReactNode;
  /** Content in place of the waterfall and the details. */
  content?: ReactNode;
  aside?: ReactNode;
}) => {
  const { story, at, isLinked = false } = props;
  const [{ span: linked }, setQuery] = useQueryState();
  const [chosen, choose] = useState<Selected>();
  const own = { story, id: (isLinked && linked) || chosen?.id || '' };
  const isOther = chosen !== undefined && chosen.story.id !== story.id;
  const shown = isOther ? chosen.story : story;
  const span =
    shown.spans.find(({ id }) => id === (isOther ? chosen.id : own.id)) ??
    notableSpan(shown.spans, shown.spans[0]?.hasFailed === true);
  const select = (selected: Selected): void => {
    choose(selected);
    if (isLinked) setQuery({ span: selected.story.id === story.id ? selected.id : undefined });
  };
  return (
    <div className={`aside ${css.view}`} data-narrow={props.isNarrow || undefined}>
      <div className="card clip">
        {props.head}
        {props.content || (
          <Waterfall
            story={story}
            at={at}
            length={props.length}
            selected={span && { story: shown, id: span.id }}
            onSelect={select}
            {...(props.rowTestId !== undefined && { rowTestId: props.rowTestId })}
          />
        )}
      </div>
      <div className="stack" style={{ gap: 16 }}>
        {span && !props.content && (
          <SpanPanel story={shown} span={span} at={isOther ? undefined : at} isOwn={!isOther} />
        )}
        {props.aside}
      </div>
    </div>
  );
};

/** A run from its trace only, in a drawer. */
export const TraceView = (props: { id: string; rowTestId?: string }) => {
  const query = useResource(traceEvents(props.id));
  return <Loaded query={query}>{(trace) => <Traced {...props} trace={trace} />}</Loaded>;
};

const Traced = ({ id, trace, ...rest }: { id: string; trace: readonly TraceEvent[]; rowTestId?: string }) => {
  const story = useMemo(() => storyOfTrace(id, trace), [id, trace]);
  return <RunView story={story} isNarrow {...rest} />;
};
