import { Dot, type Tone } from '../design/Chip.tsx';
import { ScreenLink } from '../navigation/links.tsx';
import css from './Activity.module.css';

/** Something that needs attention, with the links that repair it; the first link is the most likely repair. */
export type Problem = {
  id: string;
  tone: Tone;
  text: string;
  code?: string | undefined;
  links: readonly { text: string; href: string }[];
};

export const Problems = ({ problems }: { problems: readonly Problem[] }) => (
  <ul className="divided">
    {problems.map(({ id, tone, text, code, links }) => (
      <li key={id} className={`item ${css.line}`} data-testid={code && `diagnostic-${code}`}>
        <Dot tone={tone} />
        <span className="grow">
          {text} {code !== undefined && <code className="quiet">{code}</code>}
        </span>
        <span className={`row ${css.links}`}>
          {links.map((link) => (
            <ScreenLink key={link.text} to={link.href}>
              {link.text}
            </ScreenLink>
          ))}
        </span>
      </li>
    ))}
  </ul>
);
