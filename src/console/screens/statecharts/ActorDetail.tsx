import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { CopyButton } from '../../design/Copy.tsx';
import { Facts } from '../../design/Layout.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Actor } from '../../live-charts/actors.ts';
import { PathPanel } from '../../live-charts/PathPanel.tsx';
import { ScreenLink } from '../../navigation/links.tsx';
import { shortId } from './ActorList.tsx';
import texts from './texts.json' with { type: 'json' };
import type { RunWords } from './use-run-words.ts';

/** The machine and the address of an actor; undefined if unknown. */
export type WayTo = (id: string) => { machine: string; to: string } | undefined;

const Other = ({ id, wayTo }: { id: string; wayTo: WayTo }) => {
  const way = wayTo(id);
  const short = shortId(id).slice(0, 14);
  if (!way) return <span className="mono">{short}</span>;
  return (
    <ScreenLink to={`${way.to}?actor=${encodeURIComponent(id)}`} className="mono">
      {way.machine} {short}
    </ScreenLink>
  );
};

/** The screen of a run or a thread. */
const pageOf = ({ id, machine }: Actor): { to: string; text: 'actor.run' | 'actor.thread' } | undefined => {
  const own = encodeURIComponent(shortId(id));
  if (machine === 'run') return { to: `/runs/${own}`, text: 'actor.run' };
  return machine === 'thread' ? { to: `/threads/${own}`, text: 'actor.thread' } : undefined;
};

const MOST_CHILDREN = 8;

export const ActorDetail = (props: {
  actor: Actor;
  words: RunWords | undefined;
  at: number | undefined;
  wayTo: WayTo;
  onGo: (at: number | undefined) => void;
  onClose: () => void;
}) => {
  const { actor, words, at, wayTo, onGo, onClose } = props;
  const t = useTexts(texts);
  const { id, state, since, parent, children, isAtRest, hasEnded } = actor;
  const page = pageOf(actor);
  return (
    <>
      <div className="bar" style={{ display: 'block' }}>
        <div className="row spread">
          <Button small tone="quiet" icon="chevronLeft" onClick={onClose}>
            {t('actor.close')}
          </Button>
          {page && <ScreenLink to={page.to}>{t(page.text)}</ScreenLink>}
        </div>
        {words && <p dir="auto">{words.words}</p>}
        <h2 className="row mono">
          {shortId(id)} <CopyButton text={shortId(id)} />
        </h2>
        <Facts
          rows={[
            words && [t('common.agent'), words.agent],
            [
              t('common.state'),
              <span key="state" className="row">
                <code>{state.join(' ')}</code>
                {isAtRest && <Chip tone="warn">{t('actor.atRest')}</Chip>}
                {hasEnded && <Chip>{t('actor.ended')}</Chip>}
              </span>,
            ],
            [t('actor.since'), <Ago key="since" at={since} />],
            parent !== null && [t('actor.parent'), <Other key="parent" id={parent} wayTo={wayTo} />],
            children.length > 0 && [
              t('actor.children'),
              <span key="children" className="row">
                {children.slice(0, MOST_CHILDREN).map((child) => (
                  <Other key={child} id={child} wayTo={wayTo} />
                ))}
                {children.length > MOST_CHILDREN && `+${children.length - MOST_CHILDREN}`}
              </span>,
            ],
          ]}
        />
      </div>
      <PathPanel actor={actor} at={at} onGo={onGo} />
    </>
  );
};
