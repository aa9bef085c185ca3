import { Link, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useIdentity } from '../data/identity.ts';
import { mayUse } from '../data/principal.ts';
import { useResource } from '../data/queries.ts';
import { systemInfo } from '../data/resources.ts';
import { KEYS, readKey, writeKey } from '../data/storage.ts';
import { IconButton } from '../design/Button.tsx';
import { Icon } from '../design/Icon.tsx';
import { useTexts } from '../i18n/locale.ts';
import mark from '../mark.svg';
import { type Badge, useBadges } from './badges.ts';
import { ConnectionDot } from './Connection.tsx';
import css from './Sidebar.module.css';
import type { Group, Screen } from './screen.ts';
import shellTexts from './texts.json' with { type: 'json' };

const GROUPS: readonly Group[] = ['home', 'build', 'models', 'evaluate', 'access', 'system'];

const NavLink = (props: { screen: Screen; isHere: boolean; badge: Badge | undefined }) => {
  const { screen, isHere, badge } = props;
  const t = useTexts(shellTexts);
  if (!screen.nav) return null;
  return (
    <li>
      <Link to={screen.path} className={css.link} aria-current={isHere ? 'page' : undefined} activeProps={{}}>
        <Icon name={screen.nav.icon} />
        {t(screen.label)}
        {badge && (
          <span className="badge tint push" data-tone={badge.tone} aria-hidden="true">
            {badge.count}
          </span>
        )}
      </Link>
    </li>
  );
};

/** Whether the path belongs to the screen or to a part of it. */
const isUnder = (path: string, screen: string): boolean =>
  screen === '/' ? path === '/' : path === screen || path.startsWith(`${screen}/`);

/** Scrolls the links so that the one of the current screen is visible; the page itself stays in place. */
const showCurrent = (nav: HTMLElement | null): void => {
  const link = nav?.querySelector('[aria-current="page"]');
  if (!nav || !link) return;
  const frame = nav.getBoundingClientRect();
  const { top, bottom } = link.getBoundingClientRect();
  if (bottom > frame.bottom) nav.scrollTop += bottom - frame.bottom;
  else if (top < frame.top) nav.scrollTop -= frame.top - top;
};

const Nav = ({ screens }: { screens: readonly Screen[] }) => {
  const t = useTexts(shellTexts);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const badges = useBadges();
  const frame = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path decides which link is the current one.
  useEffect(() => showCurrent(frame.current), [path]);
  return (
    <nav ref={frame} className={`scrolls ${css.nav}`} aria-label={t('shell.nav')}>
      {GROUPS.map((group) => {
        const own = screens.filter(({ nav }) => nav?.group === group);
        if (own.length === 0) return null;
        return (
          <div key={group}>
            {group !== 'home' && <div className={css.group}>{t(`group.${group}`)}</div>}
            <ul>
              {own.map((screen) => (
                <NavLink
                  key={screen.path}
                  screen={screen}
                  isHere={isUnder(path, screen.path)}
                  badge={badges[screen.path]}
                />
              ))}
            </ul>
          </div>
        );
      })}
      {/* The manual consists of documents of the service, not of screens. */}
      <a href="/docs" className={css.link}>
        <Icon name="docs" />
        {t('shell.docs')}
      </a>
    </nav>
  );
};

const Foot = ({ isRail, onRail }: { isRail: boolean; onRail: () => void }) => {
  const t = useTexts(shellTexts);
  const { data: who, isPending } = useIdentity();
  const info = useResource(systemInfo, !isPending && mayUse(who, ['observe'])).data;
  return (
    <div className={`row nowrap fixed spread quiet ruled ${css.foot}`}>
      <span className="cut">
        {info || who?.scope === undefined
          ? t('shell.version', { version: info?.version ?? '—', scope: info?.scope_id ?? '—' })
          : t('account.scope', { scope: who.scope })}
      </span>
      <IconButton
        small
        icon="sidebar"
        label={t(isRail ? 'shell.expand' : 'shell.collapse')}
        onClick={onRail}
      />
    </div>
  );
};

export const Sidebar = (props: {
  screens: readonly Screen[];
  title: string | undefined;
  isOpen: boolean;
  onClose: () => void;
  /** Controls that do not fit into the top bar of small screens. */
  tools: ReactNode;
}) => {
  const t = useTexts(shellTexts);
  const [isRail, setRail] = useState(readKey(KEYS.rail) === '1');
  const turn = (): void => {
    writeKey(KEYS.rail, isRail ? null : '1');
    setRail(!isRail);
  };
  return (
    <>
      {props.isOpen && <div className={css.scrim} onPointerUp={props.onClose} />}
      <aside
        className={`column ${css.sidebar}`}
        data-open={props.isOpen || undefined}
        data-rail={isRail || undefined}
      >
        <div className={`row nowrap fixed ${css.head}`}>
          <img src={mark} width={24} height={24} alt="" />
          {!isRail && (
            <>
              <span className={`cut ${css.name}`}>Troupe</span>
              {props.title && <span className="badge tint push cut">{props.title}</span>}
              <ConnectionDot />
            </>
          )}
          {props.isOpen && (
            <IconButton small icon="close" label={t('shell.closeMenu')} onClick={props.onClose} />
          )}
        </div>
        <Nav screens={props.screens} />
        <div className={css.drawerTools}>{props.tools}</div>
        <Foot isRail={isRail} onRail={turn} />
      </aside>
    </>
  );
};
