import { Chip } from '../design/Chip.tsx';
import { useTexts } from '../i18n/locale.ts';
import { meaningOf, toneOf } from './grants.ts';
import texts from './texts.json' with { type: 'json' };

export const GrantChip = ({ grant }: { grant: string }) => {
  const t = useTexts(texts);
  return (
    <Chip tone={toneOf(grant)} title={meaningOf(grant, t)}>
      <code>{grant}</code>
    </Chip>
  );
};

const MOST_CHIPS = 3;

/** Grants in a cell of a table. The tooltip of a chip is the meaning of its grant. */
export const GrantChips = ({ grants }: { grants: readonly string[] }) => (
  <span className="row">
    {grants.slice(0, MOST_CHIPS).map((grant) => (
      <GrantChip key={grant} grant={grant} />
    ))}
    {grants.length > MOST_CHIPS && (
      <span className="quiet" title={grants.slice(MOST_CHIPS).join(', ')}>
        +{grants.length - MOST_CHIPS}
      </span>
    )}
  </span>
);

/** Grants with their meaning, one per row. */
export const GrantList = ({ grants, none }: { grants: readonly string[]; none: string }) => {
  const t = useTexts(texts);
  if (grants.length === 0) return <p className="quiet">{none}</p>;
  return (
    <ul className="stack">
      {grants.map((grant) => (
        <li key={grant} className="row">
          <GrantChip grant={grant} />
          <span className="grow">{meaningOf(grant, t)}</span>
        </li>
      ))}
    </ul>
  );
};
