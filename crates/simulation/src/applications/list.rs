//! The list of applications: what plans name, and what each name stands for.

/// Declares the modules of applications, an enum of what plans say of them, and what they have in common. An entry is its
/// name in plans and its type, which is [`Planned`](super::Planned).
macro_rules! applications {
    ($($name:literal => $module:ident::$type:ident,)*) => {
        $(mod $module;)*

        /// What an application does, other than to send one stream of bytes.
        #[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = "kind", deny_unknown_fields)]
        pub enum WorkloadPlan {
            $(
                #[doc = concat!("See `", stringify!($type), "`.")]
                #[serde(rename = $name)]
                $type(<$module::$type as Planned>::Plan),
            )*
            /// No connection at all.
            #[serde(rename = "datagrams")]
            Datagrams(crate::plan::DatagramPlan),
            /// An application that [the caller provides](crate::External).
            #[serde(rename = "external")]
            External {
                /// Its name, with a colon in it.
                name: String,
            },
        }

        impl WorkloadPlan {
            /// It opens and closes connections in the course of the run.
            pub(crate) fn is_many(&self) -> bool {
                match self {
                    $(WorkloadPlan::$type(_) => <$module::$type as Planned>::IS_MANY,)*
                    WorkloadPlan::Datagrams(_) => false,
                    WorkloadPlan::External { .. } => true,
                }
            }

            /// Refuses numbers that make no sense; `path` is the workload's, `span_ns` how long it works at most.
            pub(crate) fn check(&self, path: &str, span_ns: u64) -> crate::plan::range::Check {
                match self {
                    $(WorkloadPlan::$type(plan) => <$module::$type as Planned>::check(plan, path, span_ns),)*
                    WorkloadPlan::Datagrams(datagrams) => datagrams.check(path),
                    WorkloadPlan::External { .. } => Ok(()),
                }
            }

            /// The application of a flow.
            ///
            /// # Panics
            /// If it is one of datagrams, or external.
            fn build(&self, flow: &FlowStart<'_>) -> Box<dyn Application> {
                match self {
                    $(WorkloadPlan::$type(plan) => Box::new(<$module::$type as Planned>::new(plan, flow)),)*
                    WorkloadPlan::Datagrams(_) => panic!("datagrams need no connection"),
                    WorkloadPlan::External { .. } => panic!("the caller makes external applications"),
                }
            }
        }

        /// Every application that a plan can name, in order.
        pub fn descriptors() -> Vec<params::Descriptor> {
            vec![$(params::Descriptor {
                name: $name,
                title: <$module::$type as Planned>::TITLE,
                source: <$module::$type as Planned>::SOURCE,
                params: Vec::new,
            },)*
            params::Descriptor {
                name: "datagrams",
                title: "Datagrams that leave at times of their own, whatever happens to them",
                source: "",
                params: Vec::new,
            }]
        }
    };
}
pub(super) use applications;
