/** A statechart with a place for everything in it, in pixels from the top left: who shows it only has to draw. */

export type ChartBox = { x: number; y: number; width: number; height: number };

export type ChartRow = { text: string; indented: boolean; soft: boolean };

export type ChartState = ChartBox & {
  /** Names from the outermost state inwards, joined by '.'. */
  path: string;
  name: string;
  /** The status that it stands for, its own or that of the state around it. */
  tint: 'plain' | 'created' | 'running' | 'waiting' | 'done';
  /** States are drawn inside it. */
  open: boolean;
  final: boolean;
  /** Paths of the states that are folded away in it. */
  hidden: string[];
  rows: ChartRow[];
  /** What it is for and what it does, in lines. */
  about: string;
};

export type ChartArrow = {
  points: { x: number; y: number }[];
  label: ChartBox;
  rows: ChartRow[];
  /** A failed service and a delay that ends are drawn in other strokes than what is asked for or hoped for. */
  kind: 'event' | 'error' | 'timer';
  /** It begins at its label. */
  inward: boolean;
  /** Ids of the transitions that it stands for. */
  transitions: string[];
  /** Each of them in full, in lines. */
  about: string;
};

export type Chart = {
  width: number;
  height: number;
  /** Outer states before the states inside them. */
  states: ChartState[];
  arrows: ChartArrow[];
  /** Where entering a state, or the machine, begins: a dot and the way from it. */
  starts: { dot: ChartBox; points: { x: number; y: number }[] }[];
  /** Transitions that no arrow stands for, by id: the state of the picture in which they happen. */
  inside: Record<string, string>;
};

/** A machine at every depth at which it looks different, from the fewest states to all of them. */
export type ChartLevels = { name: string; description: string; levels: Chart[] };
