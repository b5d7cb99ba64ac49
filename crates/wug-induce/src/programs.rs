//! Small programs on whole numbers, found by enumeration: expressions over zero, successor, predecessor and functions
//! found earlier, and one scheme of recursion.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// An expression over the arguments of a function.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Expr {
    /// An argument, or what fills a slot.
    Argument(u8),
    /// The number 0.
    Zero,
    /// One more.
    Inc(Box<Expr>),
    /// One less; 0 stays 0.
    Dec(Box<Expr>),
    /// A function of the library.
    Call(u8, Vec<Expr>),
}

/// What a function does with the result of its recursive call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum After {
    /// Nothing.
    Keep,
    /// One more.
    Inc,
    /// One less.
    Dec,
    /// Calls a function of the library with the result and one of the arguments.
    Left(u8, u8),
    /// The same with the argument first.
    Right(u8, u8),
}

/// A function of one or two numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Function {
    /// An expression.
    Direct(Expr),
    /// `if ARGUMENT = 0 then base else after(f(next...))`.
    Recursive {
        /// The argument that ends the recursion when it is 0.
        counter: u8,
        /// The value at the end.
        base: Expr,
        /// What is done with the result of the recursive call.
        after: After,
        /// The arguments of the recursive call.
        next: Vec<Expr>,
    },
    /// What was seen and no more, where no program was found.
    Memory(Table),
}

/// Values above this are not computed.
const MAX_VALUE: u64 = 1 << 40;
/// The most recursive calls within one evaluation while programs are searched.
const FUEL: u32 = 400;

/// Functions found, and for speed the operation of the machine that each equals, if any.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Library {
    /// The functions, with the number of their arguments.
    pub functions: Vec<(Function, u8)>,
    native: Vec<Option<Native>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Native {
    Add,
    Subtract,
    Multiply,
    DivideUp,
    DivideDown,
    Max,
    Min,
}

const NATIVES: [Native; 7] = [
    Native::Add,
    Native::Subtract,
    Native::Multiply,
    Native::DivideUp,
    Native::DivideDown,
    Native::Max,
    Native::Min,
];

impl Native {
    fn apply(self, x: u64, y: u64) -> Option<u64> {
        match self {
            Self::Add => x.checked_add(y),
            Self::Subtract => Some(x.saturating_sub(y)),
            Self::Multiply => x.checked_mul(y),
            Self::DivideUp => (y > 0).then(|| x.div_ceil(y)),
            Self::DivideDown => x.checked_div(y),
            Self::Max => Some(x.max(y)),
            Self::Min => Some(x.min(y)),
        }
    }
}

impl Library {
    /// Takes out what is only remembered: the tables with their numbers, and how the others are numbered now.
    pub(crate) fn forget(&mut self) -> (Vec<(u8, Table)>, Vec<u8>) {
        let (mut tables, mut numbers) = (Vec::new(), Vec::new());
        let mut kept = Self::default();
        for (id, (function, arguments)) in std::mem::take(&mut self.functions).into_iter().enumerate() {
            numbers.push(kept.functions.len() as u8);
            match function {
                Function::Memory(table) => tables.push((id as u8, table)),
                // No program calls what is only remembered, so its calls have numbers already.
                function => kept.add(function.renumbered(&numbers), arguments),
            }
        }
        *self = kept;
        (tables, numbers)
    }

    /// Adds a function.
    pub(crate) fn add(&mut self, function: Function, arguments: u8) {
        self.functions.push((function, arguments));
        self.native.push(None);
        let id = self.functions.len() - 1;
        if arguments == 2 && !matches!(self.functions[id].0, Function::Memory(_)) {
            // Evaluation alone gets faster: what a function is was found without this.
            let same = |native: &Native| {
                (0..24).all(|x| {
                    (0..24).all(|y| {
                        let slow = self.call(id as u8, &[x, y], &mut FUEL.clone());
                        slow.is_none_or(|slow| Some(slow) == native.apply(x, y))
                            && (slow.is_some() || native.apply(x, y).is_none())
                    })
                })
            };
            self.native[id] = NATIVES.iter().find(|native| same(native)).copied();
        }
    }

    /// How many slots an expression needs; as many as there can be if it calls a function that is not there.
    pub(crate) fn slots_used(&self, expr: &Expr) -> usize {
        self.needs(expr, self.functions.len())
    }

    /// The arguments an expression needs when it may call the first `known` functions.
    fn needs(&self, expr: &Expr, known: usize) -> usize {
        match expr {
            Expr::Argument(i) => *i as usize + 1,
            Expr::Zero => 0,
            Expr::Inc(inner) | Expr::Dec(inner) => self.needs(inner, known),
            Expr::Call(id, inner) => {
                let fits = (*id as usize) < known && self.functions[*id as usize].1 as usize == inner.len();
                let inner = inner.iter().map(|inner| self.needs(inner, known)).max().unwrap_or(0);
                if fits { inner } else { usize::MAX }
            }
        }
    }

    /// Whether every function has one or two arguments, uses no others, and calls only earlier functions.
    pub(crate) fn is_sound(&self) -> bool {
        let sound = |(i, (function, arguments)): (usize, &(Function, u8))| {
            let arguments = *arguments as usize;
            let fits = |expr: &Expr| self.needs(expr, i) <= arguments;
            let body = match function {
                Function::Direct(expr) => fits(expr),
                Function::Memory(table) => table.iter().all(|(seen, _)| seen.len() == arguments),
                Function::Recursive { counter, base, after, next } => {
                    let calls = match *after {
                        After::Left(id, argument) | After::Right(id, argument) => {
                            (id as usize) < i
                                && self.functions[id as usize].1 == 2
                                && (argument as usize) < arguments
                        }
                        _ => true,
                    };
                    calls
                        && (*counter as usize) < arguments
                        && next.len() == arguments
                        && fits(base)
                        && next.iter().all(fits)
                }
            };
            body && (1..=2).contains(&arguments) && (arguments == 2 || self.native[i].is_none())
        };
        self.native.len() == self.functions.len() && self.functions.iter().enumerate().all(sound)
    }

    /// The value of a function; `None` if it has none within bounds.
    pub(crate) fn call(&self, id: u8, arguments: &[u64], fuel: &mut u32) -> Option<u64> {
        match self.native[id as usize] {
            Some(native) => native.apply(arguments[0], arguments[1]).filter(|value| *value <= MAX_VALUE),
            None => self.run(&self.functions[id as usize].0, arguments, fuel),
        }
    }

    /// The value of an expression.
    pub(crate) fn eval(&self, expr: &Expr, arguments: &[u64], fuel: &mut u32) -> Option<u64> {
        match expr {
            Expr::Argument(i) => Some(arguments[*i as usize]),
            Expr::Zero => Some(0),
            Expr::Inc(inner) => {
                Some(self.eval(inner, arguments, fuel)? + 1).filter(|value| *value <= MAX_VALUE)
            }
            Expr::Dec(inner) => Some(self.eval(inner, arguments, fuel)?.saturating_sub(1)),
            Expr::Call(id, inner) => {
                let mut values = [0; 2];
                for (value, inner) in values.iter_mut().zip(inner) {
                    *value = self.eval(inner, arguments, fuel)?;
                }
                self.call(*id, &values[..inner.len()], fuel)
            }
        }
    }

    fn run(&self, function: &Function, arguments: &[u64], fuel: &mut u32) -> Option<u64> {
        match function {
            Function::Direct(expr) => self.eval(expr, arguments, fuel),
            Function::Memory(table) => {
                table.iter().find(|(seen, _)| seen == arguments).map(|(_, value)| *value)
            }
            Function::Recursive { counter, base, after, next } => {
                let mut frames: Vec<[u64; 2]> = Vec::new();
                let mut now = [0; 2];
                now[..arguments.len()].copy_from_slice(arguments);
                while now[*counter as usize] > 0 {
                    *fuel = fuel.checked_sub(1)?;
                    frames.push(now);
                    let mut then = [0; 2];
                    for (then, next) in then.iter_mut().zip(next) {
                        *then = self.eval(next, &now, fuel)?;
                    }
                    now = then;
                }
                let mut result = self.eval(base, &now, fuel)?;
                for frame in frames.into_iter().rev() {
                    result = match *after {
                        After::Keep => result,
                        After::Inc => result + 1,
                        After::Dec => result.saturating_sub(1),
                        After::Left(id, i) => self.call(id, &[result, frame[i as usize]], fuel)?,
                        After::Right(id, i) => self.call(id, &[frame[i as usize], result], fuel)?,
                    };
                }
                Some(result).filter(|value| *value <= MAX_VALUE)
            }
        }
    }
}

/// Arguments and the value they should give.
pub(crate) type Table = Vec<(Vec<u64>, u64)>;

/// The largest program that is looked for.
pub(crate) const MAX_SIZE: usize = 9;
/// The most expressions that are kept.
const MAX_BANK: usize = 30_000;

/// Looks for the programs of one size that give a table, with at most `allowed` exceptions, and returns the first that is
/// accepted.
pub(crate) fn solve(
    table: &Table,
    size: usize,
    library: &Library,
    allowed: usize,
    is_accepted: &mut dyn FnMut(&Function) -> bool,
) -> Option<Function> {
    let arguments = table.first()?.0.len();
    let is_binary =
        |&id: &u8| matches!(&library.functions[id as usize], (f, 2) if !matches!(f, Function::Memory(_)));
    let binary: Vec<u8> = (0..library.functions.len() as u8).filter(is_binary).collect();
    if size >= 5
        && let Some(found) = recursive(table, size, library, &binary, arguments as u8, allowed, is_accepted)
    {
        return Some(found);
    }
    direct(table, size, library, &binary, arguments as u8, allowed, is_accepted)
}

/// Whether a function gives the values of the table, but for a number of rows that is allowed.
fn fits_table(table: &Table, allowed: usize, mut value: impl FnMut(&[u64]) -> Option<u64>) -> bool {
    let mut missed = 0;
    table.iter().all(|(arguments, wanted)| {
        missed += usize::from(value(arguments) != Some(*wanted));
        missed <= allowed
    })
}

/// Expressions up to a size, one for each list of values they give on the table's arguments.
struct Bank {
    by_size: Vec<Vec<(Expr, Vec<Option<u64>>)>>,
}

impl Bank {
    fn new(table: &Table, most: usize, library: &Library, binary: &[u8], arguments: u8) -> Self {
        let mut seen: HashSet<Vec<Option<u64>>> = HashSet::new();
        let mut bank = Self { by_size: vec![Vec::new()] };
        for size in 1..=most {
            let mut level: Vec<(Expr, Vec<Option<u64>>)> = Vec::new();
            let mut keep = |expr: Expr, values: Vec<Option<u64>>| {
                if level.len() < MAX_BANK && values.iter().any(Option::is_some) && seen.insert(values.clone())
                {
                    level.push((expr, values));
                }
            };
            if size == 1 {
                for i in 0..arguments {
                    keep(Expr::Argument(i), table.iter().map(|(args, _)| Some(args[i as usize])).collect());
                }
                keep(Expr::Zero, vec![Some(0); table.len()]);
            } else {
                for (inner, values) in &bank.by_size[size - 1] {
                    let inc = values.iter().map(|value| value.map(|value| value + 1)).collect();
                    keep(Expr::Inc(Box::new(inner.clone())), inc);
                    let dec = values.iter().map(|value| value.map(|value| value.saturating_sub(1))).collect();
                    keep(Expr::Dec(Box::new(inner.clone())), dec);
                }
                for left in 1..size.saturating_sub(1) {
                    for (a, a_values) in &bank.by_size[left] {
                        for (b, b_values) in &bank.by_size[size - 1 - left] {
                            for &id in binary {
                                let values = call_all(library, id, a_values, b_values);
                                keep(Expr::Call(id, vec![a.clone(), b.clone()]), values);
                            }
                        }
                    }
                }
            }
            bank.by_size.push(level);
        }
        bank
    }
}

fn call_all(library: &Library, id: u8, a: &[Option<u64>], b: &[Option<u64>]) -> Vec<Option<u64>> {
    a.iter().zip(b).map(|(a, b)| library.call(id, &[(*a)?, (*b)?], &mut FUEL.clone())).collect()
}

fn direct(
    table: &Table,
    size: usize,
    library: &Library,
    binary: &[u8],
    arguments: u8,
    allowed: usize,
    is_accepted: &mut dyn FnMut(&Function) -> bool,
) -> Option<Function> {
    let wanted: Vec<Option<u64>> = table.iter().map(|(_, value)| Some(*value)).collect();
    let agrees = |values: &mut dyn Iterator<Item = Option<u64>>| {
        let mut missed = 0;
        values.zip(&wanted).all(|(value, wanted)| {
            missed += usize::from(value != *wanted);
            missed <= allowed
        })
    };
    // The last step of the program is not stored, so the bank stays small.
    let bank = Bank::new(table, (size - 1).min(5), library, binary, arguments);
    if size <= 5 {
        let all = Bank::new(table, size, library, binary, arguments);
        let fitting = all.by_size[size].iter().filter(|(_, v)| agrees(&mut v.iter().copied()));
        return fitting.map(|(expr, _)| Function::Direct(expr.clone())).find(is_accepted);
    }
    for left in 1..size - 1 {
        let right = size - 1 - left;
        if left >= bank.by_size.len() || right >= bank.by_size.len() {
            continue;
        }
        for (a, a_values) in &bank.by_size[left] {
            for (b, b_values) in &bank.by_size[right] {
                for &id in binary {
                    let mut values = a_values
                        .iter()
                        .zip(b_values)
                        .map(|(a, b)| library.call(id, &[(*a)?, (*b)?], &mut FUEL.clone()));
                    let call = || Function::Direct(Expr::Call(id, vec![a.clone(), b.clone()]));
                    if agrees(&mut values)
                        && let Some(found) = Some(call()).filter(&mut *is_accepted)
                    {
                        return Some(found);
                    }
                }
            }
        }
    }
    None
}

/// All small expressions of the arguments, by size.
fn small(most: usize, binary: &[u8], arguments: u8) -> Vec<Vec<Expr>> {
    let mut by_size: Vec<Vec<Expr>> = vec![Vec::new()];
    for size in 1..=most {
        let mut level = Vec::new();
        if size == 1 {
            level.extend((0..arguments).map(Expr::Argument));
            level.push(Expr::Zero);
        } else {
            for inner in &by_size[size - 1] {
                level.push(Expr::Inc(Box::new(inner.clone())));
                level.push(Expr::Dec(Box::new(inner.clone())));
            }
            for left in 1..size.saturating_sub(1) {
                for a in &by_size[left] {
                    for b in &by_size[size - 1 - left] {
                        level.extend(binary.iter().map(|&id| Expr::Call(id, vec![a.clone(), b.clone()])));
                    }
                }
            }
        }
        by_size.push(level);
    }
    by_size
}

fn recursive(
    table: &Table,
    size: usize,
    library: &Library,
    binary: &[u8],
    arguments: u8,
    allowed: usize,
    is_accepted: &mut dyn FnMut(&Function) -> bool,
) -> Option<Function> {
    let exprs = small(3, binary, arguments);
    let mut afters = vec![(0, After::Keep), (1, After::Inc), (1, After::Dec)];
    for &id in binary {
        for argument in 0..arguments {
            afters.push((2, After::Left(id, argument)));
            afters.push((2, After::Right(id, argument)));
        }
    }
    for counter in 0..arguments {
        for base_size in 1..=2 {
            for base in &exprs[base_size] {
                // Where the counter is 0 the base alone must be right.
                let ends = fits_table(table, allowed, |args| {
                    if args[counter as usize] > 0 {
                        return table.iter().find(|(other, _)| other == args).map(|(_, value)| *value);
                    }
                    library.eval(base, args, &mut FUEL.clone())
                });
                if !ends {
                    continue;
                }
                for &(after_size, after) in &afters {
                    // One for the counter, one for the call itself.
                    let Some(left) = size.checked_sub(2 + base_size + after_size) else { continue };
                    for next in splits(&exprs, left, arguments) {
                        let function = Function::Recursive { counter, base: base.clone(), after, next };
                        if fits_table(table, allowed, |args| library.run(&function, args, &mut FUEL.clone()))
                            && is_accepted(&function)
                        {
                            return Some(function);
                        }
                    }
                }
            }
        }
    }
    None
}

/// Arguments of a recursive call whose sizes add up.
fn splits(exprs: &[Vec<Expr>], total: usize, arguments: u8) -> Vec<Vec<Expr>> {
    let mut all = Vec::new();
    if arguments == 1 {
        all.extend(exprs.get(total).into_iter().flatten().map(|expr| vec![expr.clone()]));
        return all;
    }
    for first in 1..total {
        let (Some(a), Some(b)) = (exprs.get(first), exprs.get(total - first)) else { continue };
        for a in a {
            all.extend(b.iter().map(|b| vec![a.clone(), b.clone()]));
        }
    }
    all
}

impl Function {
    fn renumbered(self, numbers: &[u8]) -> Self {
        match self {
            Self::Direct(expr) => Self::Direct(expr.renumbered(numbers)),
            Self::Recursive { counter, base, after, next } => {
                let after = match after {
                    After::Left(id, argument) => After::Left(numbers[id as usize], argument),
                    After::Right(id, argument) => After::Right(numbers[id as usize], argument),
                    other => other,
                };
                let next = next.into_iter().map(|expr| expr.renumbered(numbers)).collect();
                Self::Recursive { counter, base: base.renumbered(numbers), after, next }
            }
            memory @ Self::Memory(_) => memory,
        }
    }
}

impl Expr {
    /// The same with other numbers of functions.
    pub(crate) fn renumbered(self, numbers: &[u8]) -> Self {
        match self {
            Self::Argument(_) | Self::Zero => self,
            Self::Inc(inner) => Self::Inc(Box::new(inner.renumbered(numbers))),
            Self::Dec(inner) => Self::Dec(Box::new(inner.renumbered(numbers))),
            Self::Call(id, inner) => {
                let inner = inner.into_iter().map(|inner| inner.renumbered(numbers)).collect();
                Self::Call(numbers[id as usize], inner)
            }
        }
    }

    /// As a person reads it.
    pub(crate) fn show(&self, argument: &dyn Fn(u8) -> String) -> String {
        match self {
            Self::Argument(i) => argument(*i),
            Self::Zero => "0".to_owned(),
            Self::Inc(inner) => format!("inc {}", inner.show(argument)),
            Self::Dec(inner) => format!("dec {}", inner.show(argument)),
            Self::Call(id, inner) => {
                let inner: Vec<String> = inner.iter().map(|inner| inner.show(argument)).collect();
                format!("f{id}({})", inner.join(", "))
            }
        }
    }
}

impl Function {
    /// As a person reads it; `own` is its number in the library.
    pub(crate) fn show(&self, own: usize) -> String {
        let name = |i: u8| ["x", "y"][i as usize].to_owned();
        match self {
            Self::Direct(expr) => expr.show(&name),
            Self::Memory(table) => format!("one of {} values that were seen", table.len()),
            Self::Recursive { counter, base, after, next } => {
                let next: Vec<String> = next.iter().map(|next| next.show(&name)).collect();
                let call = format!("f{own}({})", next.join(", "));
                let then = match after {
                    After::Keep => call,
                    After::Inc => format!("inc {call}"),
                    After::Dec => format!("dec {call}"),
                    After::Left(id, i) => format!("f{id}({call}, {})", name(*i)),
                    After::Right(id, i) => format!("f{id}({}, {call})", name(*i)),
                };
                format!("if {} = 0 then {} else {then}", name(*counter), base.show(&name))
            }
        }
    }
}
